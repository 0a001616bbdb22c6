"""`hallumeter aspects aggregate`: what many scorecards add up to."""
