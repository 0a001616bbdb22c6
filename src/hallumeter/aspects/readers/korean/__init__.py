"""The Korean reader: morphology, a lexicon and rules."""
