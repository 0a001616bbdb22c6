"""Where work is done."""

from .local import available_cores, map_in_order

__all__ = ["available_cores", "map_in_order"]
