"""The text of a page from ALTO, PAGE XML, hOCR or plain text, and folders of such pages."""

from .folders import PageFiles, pages_in
from .names import page_name
from .page_file import LARGEST_BYTES, PAGE_SUFFIXES, Page, read_page_file

__all__ = [
    "LARGEST_BYTES",
    "PAGE_SUFFIXES",
    "Page",
    "PageFiles",
    "page_name",
    "pages_in",
    "read_page_file",
]
