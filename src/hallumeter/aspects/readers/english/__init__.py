"""The English reader: two small networks and a lexicon."""
