"""Fields and opening hours of structured records against what a claim says."""
