"""Arithmetic on counts and ranks: intervals, tests, agreement, correction. Pure."""
