"""Where the work of a run is done."""
