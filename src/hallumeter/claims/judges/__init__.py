"""Who says whether a claim is supported."""
