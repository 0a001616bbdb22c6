"""The metrics: columns in, rates or agreement statistics out."""
