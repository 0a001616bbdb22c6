"""Names of files that strangers write: they lead to a file below a folder, or nowhere."""

from __future__ import annotations

from pathlib import Path, PurePath


def path_below(folder: Path, name: str | PurePath) -> Path | None:
    """Where a name leads from a folder; None when it leads out of it, also by a link, or is no name at all.

    >>> path_below(Path("pages"), "../secret.txt") is None
    True
    >>> path_below(Path("pages"), "one/page.xml") == Path("pages/one/page.xml").resolve()
    True
    """
    try:
        place = (folder / name).resolve()
        place.exists()  # raises for a name that is too long or must not be looked at
        return place if place.is_relative_to(folder.resolve()) else None
    except (OSError, ValueError, RuntimeError):  # also a NUL character, or links in a circle
        return None
