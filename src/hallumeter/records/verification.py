"""What came of computing numbers once more."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

Outcome = Literal["equal", "different", "not_verifiable"]
MOST_DIFFERENCES = 20
"""Differences that are kept of one check; all are counted."""


class Difference(Struct, frozen=True):
    """A number, or a line, that is not what it should be."""

    where: str
    found: str
    """As it stands there."""
    computed: str
    """As it should be."""


class Check(Struct, frozen=True, kw_only=True):
    """One thing that was verified, or could not be."""

    name: str
    """What was looked at, such as a file."""
    equal: int = 0
    """Numbers, files or lines that are as they should be."""
    different: int = 0
    differences: tuple[Difference, ...] = ()
    """The first of them."""
    why_not: str | None = None
    """Why it could not be verified; None when it could."""

    @property
    def outcome(self) -> Outcome:
        """A difference weighs more than what could not be verified."""
        if self.different:
            return "different"
        return "equal" if self.why_not is None else "not_verifiable"


class Verification(Struct, frozen=True):
    """Everything that was verified."""

    subject: str
    """The run folder, or the page."""
    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Outcome:
        """Different if anything is; not verifiable if anything could not be."""
        found = {check.outcome for check in self.checks}
        if "different" in found:
            return "different"
        return "equal" if found == {"equal"} else "not_verifiable"


def check_of(name: str, equal: int, differences: Iterable[Difference]) -> Check:
    """A check with what was found different."""
    found = list(differences)
    return Check(name=name, equal=equal, different=len(found), differences=tuple(found[:MOST_DIFFERENCES]))
