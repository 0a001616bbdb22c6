"""Edits of claims: errors of known kinds, and controls that keep the meaning."""
