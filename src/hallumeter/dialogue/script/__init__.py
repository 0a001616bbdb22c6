"""`hallumeter dialogue script`: patients' records in, questions out."""
