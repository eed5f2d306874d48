"""The best that any method can do, and where it jumps."""
