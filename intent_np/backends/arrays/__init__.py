"""What the NumPy machines share: arguments, memory with bounds, fragments as arrays, and the terms of every level."""
