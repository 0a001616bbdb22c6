"""What a golden case is: commands that are run in a folder of their own, and what they are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Program = Callable[[Path], list[str]]
"""Something that no single command does: from the folder of the case to the texts that are recorded."""


@dataclass(frozen=True)
class Case:
    """Commands as they are typed, without `hallumeter`; ` < FILE` after one gives it a standard input."""

    name: str
    steps: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    """Names of inputs, see `given_files.py`."""
    after: str | None = None
    """Begins with the folder that this other case leaves behind."""
    program: Program | None = None
    """Is run after the steps."""
    has_model: bool = False
    """Runs beside a server of language models, which is reached as http://model.test/v1#NAME."""
    is_listed_by_digest: bool = False
    """The files that it leaves are digested; off for cases that are about what is printed."""


def case(
    name: str,
    *steps: str,
    given: str = "",
    after: str | None = None,
    has_model: bool = False,
    digests: bool = True,
    program: Program | None = None,
) -> Case:
    """A case, in few words: the names of what is given stand in one text."""
    return Case(
        name=name,
        steps=steps,
        given=tuple(given.split()),
        after=after,
        program=program,
        has_model=has_model,
        is_listed_by_digest=digests,
    )
