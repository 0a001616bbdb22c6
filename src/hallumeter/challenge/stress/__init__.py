"""`hallumeter stress`: how many planted errors a judge catches."""
