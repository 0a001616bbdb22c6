"""The arithmetic of the aspect metrics."""
