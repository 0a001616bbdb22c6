"""What a person sees while a run in shards goes on, whatever engine works."""

from __future__ import annotations

import io
from collections.abc import Callable

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn

from hallumeter.cli.sharding import ShownShards
from hallumeter.run.shards import Receipt


def receipt(number: int, **what: float) -> Receipt:
    return Receipt(number, "a", (), (), 7, 1.0, won=True, **what)  # type: ignore[arg-type]


def test_rows_then_shards_then_the_merging_are_shown() -> None:
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TextColumn("{task.fields[facts]}"))
    seen = io.StringIO()
    console = Console(file=seen, force_terminal=True, width=80, color_system=None)
    frames = []
    with Progress(*columns, console=console, auto_refresh=False) as progress:
        shown = ShownShards(progress)
        steps: list[Callable[[], None]] = [
            lambda: shown.splitting(1200),
            lambda: shown.begin(3, [receipt(0)]),
            lambda: shown.shard(receipt(1, failures=2, calls=5, spent_usd=0.25)),
            lambda: shown.shard(receipt(2)),
        ]
        for step in steps:
            step()
            [task] = progress.tasks
            frames.append((task.description, task.completed, task.total, task.fields["facts"]))
    assert frames == [
        ("splitting", 0, None, "1,200 rows"),
        ("shards", 1, 3, "7 records"),
        ("shards", 2, 3, "14 records [red]2 failed[/red] 5 calls $0.2500"),
        ("merging", 3, 3, "21 records [red]2 failed[/red] 5 calls $0.2500"),
    ]
    assert "merging" in seen.getvalue()
