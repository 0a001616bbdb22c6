"""Entrances for users of other packages: the names and shapes that they know, computed by hallumeter's own metrics."""

from hallumeter.compat import judge_auditor

from . import picarones

__all__ = ["judge_auditor", "picarones"]
