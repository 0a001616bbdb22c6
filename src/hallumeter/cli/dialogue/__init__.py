"""`hallumeter dialogue`: one file per command."""

from .group import dialogue

__all__ = ["dialogue"]
