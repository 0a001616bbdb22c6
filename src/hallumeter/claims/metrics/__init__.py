"""The metrics of claims, and their rows in the catalog."""
