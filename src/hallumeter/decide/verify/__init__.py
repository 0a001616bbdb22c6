"""Verify that the numbers of a run, or of a report, follow from what they were counted from."""
