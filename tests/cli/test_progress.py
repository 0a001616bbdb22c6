"""Bars are shown to a person who waits, and to nobody else."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest
from rich.progress import Progress

from hallumeter.cli import progress
from hallumeter.cli.progress import MANY_CLAIMS, AdvisedAudit, shown_audit, shown_pages
from hallumeter.run.progress import NoProgress


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


def test_the_name_of_a_judge_is_shown_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with shown_audit(is_quiet=False) as watch:
        watch.begin("judging by [b]mine[/x]", total=2)
        watch.done(1, failures=1)
        watch.done(1)
    shown = terminal.getvalue()
    assert "judging by [b]mine[/x]" in shown
    assert "1 failed" in shown
    assert "[red]" not in shown


def test_a_bar_is_drawn_ten_times_a_second_and_when_its_step_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    drawn: list[float] = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: seconds))
    monkeypatch.setattr(Progress, "refresh", lambda shown: drawn.extend(task.completed for task in shown.tasks))
    with shown_audit(is_quiet=False) as watch:
        drawn.clear()
        watch.begin("judging", total=1000)
        for _ in range(1000):
            seconds += 1 / 1024  # a clock of these steps never rounds: the bar is due after 103 of them
            watch.done(1)
        watch.done(1)  # more than was promised
        assert drawn == [0, 103, 206, 309, 412, 515, 618, 721, 824, 927, 1000]


def test_an_audit_in_a_pipe_or_for_a_quiet_user_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with shown_audit(is_quiet=False) as watch:
        assert isinstance(watch, NoProgress)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with shown_audit(is_quiet=True) as watch:
        assert isinstance(watch, NoProgress)


@pytest.mark.parametrize(
    ("what", "total", "done", "is_told"),
    [
        ("judging by embedded:full@3", MANY_CLAIMS, 0, True),
        ("judging by rules, embedded", MANY_CLAIMS + 1, 1, True),
        ("judging by embedded", MANY_CLAIMS, 1, False),
        ("judging by embedded:fast@3", MANY_CLAIMS, 0, False),
        ("judging by rules", MANY_CLAIMS, 0, False),
        ("finding claims", MANY_CLAIMS, 0, False),
    ],
)
def test_who_has_many_claims_judged_slowly_is_told_what_makes_it_fast(
    what: str,
    total: int,
    done: int,
    is_told: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    advised = AdvisedAudit(NoProgress())
    advised.begin(what, total=total, done=done)
    advised.done(1)
    told = "note: pip install 'hallumeter[onnx]' makes the embedded judge several times as fast\n"
    assert capsys.readouterr().err == told * is_told


def test_who_has_onnxruntime_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "find_spec", lambda _: object())
    AdvisedAudit(NoProgress()).begin("judging by embedded", total=MANY_CLAIMS)
    assert capsys.readouterr().err == ""
