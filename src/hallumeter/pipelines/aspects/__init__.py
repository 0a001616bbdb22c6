"""Aspect-based sentiment by several agents, and where its errors come from."""
