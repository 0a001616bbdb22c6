"""Where work is done: in this process or in several. OCR engines are in `providers`."""

from .local import available_cores, map_in_order

__all__ = ["available_cores", "map_in_order"]
