"""What programs mean: logical and normal terms, executed by NumPy."""
