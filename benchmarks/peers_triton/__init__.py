"""The scorecard's work as Triton kernels written by hand.

Each module has kernels and, for each workload, a function of the kernel's arguments by name that gives the candidates:
one function of no arguments for each configuration, of which the fastest is taken before anything is measured.
Grids have one dimension.  Numbers are Triton's own: approximate exp and division, fused multiply-add.
"""
