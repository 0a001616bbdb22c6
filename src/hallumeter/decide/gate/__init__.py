"""`hallumeter gate`: a run held to the bounds of a policy."""
