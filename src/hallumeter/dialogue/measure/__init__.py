"""`hallumeter dialogue measure`: events in, metrics out."""
