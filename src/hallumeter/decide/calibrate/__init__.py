"""`hallumeter calibrate`: thresholds with a promise."""
