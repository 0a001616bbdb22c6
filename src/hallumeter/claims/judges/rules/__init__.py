"""The judge that works by rules: no model, no network, every verdict with its reason."""
