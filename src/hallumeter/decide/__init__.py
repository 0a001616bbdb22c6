"""Decisions on finished runs: compare, gate, label, correct, calibrate, baselines."""
