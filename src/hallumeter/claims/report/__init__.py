"""What a report on claims shows."""
