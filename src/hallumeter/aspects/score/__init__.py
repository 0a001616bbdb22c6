"""`hallumeter aspects score`: outputs in, scorecards out."""
