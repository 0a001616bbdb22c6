"""What a report on aspects shows."""
