"""Strings in, positions out: words, sentences, numbers, dates, names, alignment. Pure."""
