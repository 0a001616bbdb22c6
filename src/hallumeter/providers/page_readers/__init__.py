"""Programs that read page images: witnesses of what stands on a page, that do not write on their own."""

from .by_name import READERS, page_reader
from .protocol import PageReader, Reading
from .rapidocr_reader import RapidOcrReader
from .tesseract import TesseractReader

__all__ = ["READERS", "PageReader", "RapidOcrReader", "Reading", "TesseractReader", "page_reader"]
