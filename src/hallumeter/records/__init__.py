"""The nouns that everything shares: frozen records, checked when they are made."""
