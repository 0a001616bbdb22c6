"""Readers of page files: plain text, ALTO, PAGE XML, hOCR."""
