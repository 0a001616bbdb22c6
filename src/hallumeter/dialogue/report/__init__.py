"""What a report on dialogues shows."""
