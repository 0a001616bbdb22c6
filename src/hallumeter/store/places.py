"""Where things are kept that outlive a run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VIEWS = "views"
"""The folder in the cache with the indexes by which runs are shown."""


def cache_folder() -> Path:
    r"""The folder for what can be made again: `HALLUMETER_CACHE`, else a folder where the system keeps such things.

    That is `XDG_CACHE_HOME/hallumeter` or `~/.cache/hallumeter`, on Windows `%LOCALAPPDATA%\hallumeter\cache`, on
    macOS `~/Library/Caches/hallumeter`. The folder may not exist yet.
    """
    if chosen := os.environ.get("HALLUMETER_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else _home() / "AppData" / "Local") / "hallumeter" / "cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "hallumeter"
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says that a relative path there is to be ignored.
    return (Path(chosen) if Path(chosen).is_absolute() else _home() / ".cache") / "hallumeter"


def _home() -> Path:
    """Path.home, which fails for a user without an entry in the system's list (as in a container)."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.sep)
