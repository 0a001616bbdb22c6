"""The instrument behind `audit` and `measure`: answers against evidence."""
