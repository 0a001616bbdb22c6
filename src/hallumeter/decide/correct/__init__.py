"""`hallumeter correct`: rates corrected for the judge's errors."""
