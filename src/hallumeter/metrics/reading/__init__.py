"""What an engine did with a page: words it read, misread, moved, left out, invented or repeated without end."""

from .edits import EditCounts, count_character_edits, count_word_edits
from .page import PageReading, read_page
from .stretches import Stretch

__all__ = [
    "EditCounts",
    "PageReading",
    "Stretch",
    "count_character_edits",
    "count_word_edits",
    "read_page",
]
