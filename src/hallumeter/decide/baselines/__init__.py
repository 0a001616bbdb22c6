"""`hallumeter baselines`: a judge beside what needs no judge."""
