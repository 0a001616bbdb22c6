"""The clinical reader: drugs, conditions, labs, vitals, and how each is mentioned."""
