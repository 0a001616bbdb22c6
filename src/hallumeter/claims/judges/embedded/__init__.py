"""The judge that ships inside the package: trees over measured features, and a small network."""
