"""Who introduced, flagged, ignored, repaired and broke what is wrong in the outputs of an aspect pipeline."""

from .sentences import blame_of
from .tables import BlameSums, blame_table
from .writing import write_blame

__all__ = ["BlameSums", "blame_of", "blame_table", "write_blame"]
