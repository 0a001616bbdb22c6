"""What labels by people tell: corrected rates, which to ask for next, thresholds with a guarantee, skill of scores."""
