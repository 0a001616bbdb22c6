"""One runner for every instrument, shown with a toy one: it doubles numbers, and each costs a cent."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import Struct

from hallumeter.errors import InputError, SettingsError
from hallumeter.models.prices import Spending
from hallumeter.models.protocol import ProviderFault, Usage
from hallumeter.records.manifest import Manifest
from hallumeter.run.context import RunContext
from hallumeter.run.identity import RunIdentity, manifest_of
from hallumeter.run.journal import Journal, decoded, entry_of
from hallumeter.run.progress import NoProgress
from hallumeter.run.run_folder import JOURNAL, RunFolder
from hallumeter.run.runner import FinishedRun, RunOutcome, Step, run_work

STEP, FILE = "doubled", "doubled.txt"


class Doubled(Struct):
    number: int


class Doubling(RunIdentity, frozen=True):
    factor: int = 2


class Toy:
    """Works on the numbers below `size`."""

    instrument = "toy"

    def __init__(self, folder: Path, size: int, *, factor: int = 2, fault: ProviderFault | None = None) -> None:
        self.started = datetime.now(UTC)
        self.folder, self.size = folder, size
        self.identity = Doubling("1", factor)
        self.notices: tuple[str, ...] = ("a toy",)
        self.asked: list[int] = []
        self._fault = fault

    @property
    def manifest(self) -> Manifest:
        return manifest_of(self.identity, "toy", {"identity": self.identity.digest}, inputs=(), seed=0)

    @property
    def steps(self) -> Sequence[Step]:
        return (self._double,)

    def opened(self, **_: object) -> AbstractContextManager[object]:
        return nullcontext()

    def _double(self, context: RunContext) -> bool:
        done = context.journal.done(STEP)
        for number in range(self.size):
            if context.stop.is_set():
                return False
            if (number, 0) not in done:
                if self._fault is not None:
                    raise self._fault
                context.spending.begin()
                context.spending.add(Usage(1, 1), 0.01)
                self.asked.append(number)
                doubled = Doubled(number * self.identity.factor)
                context.journal.add([entry_of(STEP, number, doubled)])
        return True

    def write(self, folder: Path, context: RunContext) -> FinishedRun:
        bodies = [entry.body for entry in context.journal.entries(STEP)]
        text = " ".join(str(each.number) for each in decoded(bodies, Doubled))
        (folder / FILE).write_text(text, encoding="utf-8")
        return FinishedRun(retryable=self.size - len(bodies))

    def write_report(self, folder: Path) -> None:
        assert RunFolder(folder).manifest.instrument == "toy", "the manifest is there before the report"

    def read_finished(self) -> FinishedRun:
        (self.folder / FILE).read_text(encoding="utf-8")
        return FinishedRun()


def run(
    work: Toy, *, stop: threading.Event | None = None, budget: float | None = None, is_resumed: bool = True
) -> RunOutcome[FinishedRun]:
    stop = stop or threading.Event()
    return run_work(work, progress=NoProgress(), stop=stop, spending=Spending(budget), is_resumed=is_resumed)


def test_a_run_writes_its_files_and_is_not_repeated(tmp_path: Path) -> None:
    outcome = run(Toy(tmp_path / "run", 3))
    assert (outcome.stopped, outcome.was_finished, outcome.notices) == (None, False, ("a toy",))
    assert (tmp_path / "run" / FILE).read_text(encoding="utf-8") == "0 2 4"
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [FILE, "manifest.json"]
    again = Toy(tmp_path / "run", 3)
    assert run(again).was_finished
    assert again.asked == []


def test_a_stopped_run_leaves_its_journal_alone_and_goes_on_there(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    stopped = run(Toy(tmp_path / "run", 3), stop=stop)
    assert (stopped.stopped, stopped.finished) == ("interrupted", None)
    assert [path.name for path in (tmp_path / "run").iterdir()] == [JOURNAL]
    with pytest.raises(InputError, match="not finished"):
        run(Toy(tmp_path / "run", 3), is_resumed=False)
    assert run(Toy(tmp_path / "run", 3)).stopped is None


def test_a_budget_holds_for_all_parts_of_a_run_together(tmp_path: Path) -> None:
    first = Toy(tmp_path / "run", 5)
    outcome = run(first, budget=0.02)
    assert outcome.stopped == "budget"
    assert outcome.finished is not None
    assert (first.asked, outcome.finished.retryable) == ([0, 1], 3)
    assert (tmp_path / "run" / JOURNAL).exists(), "there is something to go on with"
    second = Toy(tmp_path / "run", 5)
    assert run(second, budget=0.04).spending.spent_usd == pytest.approx(0.04)
    assert second.asked == [2, 3]
    third = Toy(tmp_path / "run", 5)
    assert run(third).stopped is None
    assert third.asked == [4]
    assert not (tmp_path / "run" / JOURNAL).exists()


def test_a_run_with_other_settings_is_refused_begun_or_finished(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    run(Toy(tmp_path / "run", 3), stop=stop)
    with pytest.raises(SettingsError, match=r"begun with factor 2 \(now 3\)"):
        run(Toy(tmp_path / "run", 3, factor=3))
    run(Toy(tmp_path / "run", 3))
    with pytest.raises(SettingsError, match="finished run of another experiment"):
        run(Toy(tmp_path / "run", 3, factor=3))
    (tmp_path / "run" / FILE).unlink()
    with pytest.raises(InputError, match="damaged, or a run of another command"):
        run(Toy(tmp_path / "run", 3))


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="exists already and holds no run"):
        run(Toy(tmp_path, 3))
    Journal.create(tmp_path / JOURNAL, settings=b"{}").close()
    with pytest.raises(SettingsError, match="of another command, or of another version"):
        run(Toy(tmp_path, 3))


def test_a_model_that_cannot_be_asked_ends_the_run_with_advice(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no such model; what was answered is kept in .*run: mend it"):
        run(Toy(tmp_path / "run", 3, fault=ProviderFault("not_found", "no such model", is_fatal=True)))
    assert run(Toy(tmp_path / "run", 3)).stopped is None
