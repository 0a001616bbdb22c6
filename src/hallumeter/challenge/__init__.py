"""Challenges for judges and evaluators: stress and integrity."""
