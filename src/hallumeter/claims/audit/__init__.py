"""What `hallumeter audit` does, from the input files to the run folder."""
