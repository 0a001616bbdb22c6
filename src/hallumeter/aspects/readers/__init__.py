"""Readers of reviews, one for each language."""
