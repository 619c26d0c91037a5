"""The Triton provider: printed source in, PTX and cubin out."""
