"""Results of other tools, one file each and one row in a table."""
