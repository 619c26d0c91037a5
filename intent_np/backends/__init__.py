"""Machines and providers: what executes terms of one level, or compiles and launches them."""
