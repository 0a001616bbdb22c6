"""The judge that ships inside the package: a small model that was trained for this, in two tiers."""
