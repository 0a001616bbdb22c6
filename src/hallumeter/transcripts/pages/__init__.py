"""Readers of page files: plain text, JSON, ALTO, PAGE XML, TEI, hOCR; METS and archives that hold them."""
