"""The scorecard: the corpus's kernels beside what PyTorch does, on one GPU in one process."""
