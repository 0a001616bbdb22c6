"""What `hallumeter measure` does: verdicts in, metrics out."""
