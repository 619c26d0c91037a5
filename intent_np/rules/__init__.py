"""Rewrite rules as data, by subject, and the facts that they may ask for."""
