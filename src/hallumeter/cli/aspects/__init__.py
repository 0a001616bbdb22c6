"""`hallumeter aspects`: one file per command."""

from .group import aspects

__all__ = ["aspects"]
