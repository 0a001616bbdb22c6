"""What a report says, in English, French and Korean."""
