"""What a report on transcripts shows."""
