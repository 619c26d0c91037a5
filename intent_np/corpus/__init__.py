"""Batches of kernels: finding them, building and verifying them apart from each other, and reporting."""
