"""An index over the records of a run, so that a browser can page through 100,000 of them."""
