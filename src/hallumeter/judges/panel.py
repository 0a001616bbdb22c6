"""Several judges at once; all their votes are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hallumeter.errors import SettingsError

from .protocol import Judge, JudgeSpec


class Panel:
    """Judges with different names, in the order in which they were given; one alone is a panel as well.

    Raises:
        SettingsError: There is no judge, or two have the same name: their verdicts could not be told apart.
    """

    def __init__(self, judges: Sequence[Judge]) -> None:
        if not judges:
            raise SettingsError("there is no judge; give at least one")
        self.judges = tuple(judges)
        self.specs: tuple[JudgeSpec, ...] = tuple(judge.spec for judge in judges)
        """Who they are; asked for once, since a spec may take time to make."""
        twice = [name for name, count in Counter(spec.name for spec in self.specs).items() if count > 1]
        if twice:
            raise SettingsError(
                f"two judges are called {twice[0]!r}, and their verdicts could not be told apart; give each judge once"
            )

    def __len__(self) -> int:
        return len(self.judges)
