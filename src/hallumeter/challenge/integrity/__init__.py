"""`hallumeter integrity`: what an evaluator returns when there is nothing to measure."""
