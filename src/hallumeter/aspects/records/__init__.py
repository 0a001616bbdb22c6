"""The nouns of aspect pipelines."""
