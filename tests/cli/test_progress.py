"""A bar of pages is shown to a person who waits, and to nobody else."""

from __future__ import annotations

import io
import sys

import pytest

from hallumeter.cli.progress import shown_pages


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_person_at_a_terminal_sees_how_many_pages_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with shown_pages(is_quiet=False) as watch:
        assert watch is not None
        watch(3, 7)
    assert "3/7" in terminal.getvalue()


def test_a_pipe_and_a_quiet_user_see_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with shown_pages(is_quiet=False) as watch:
        assert watch is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    with shown_pages(is_quiet=True) as watch:
        assert watch is None
