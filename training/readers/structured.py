"""Texts about structured data: Quintd-1, D2T-Eval, and basketball games of the shared task on accuracy."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.examples import Example, Span

from .lines import json_lines, table_rows

DOMAINS = ("gsmarena", "openweather", "wikidata")
D2T_KINDS = {"contradictory": True, "misleading": True, "not_checkable": False}
"""Kinds of marks of D2T-Eval that are errors, and whether the record says otherwise."""


def read_quintd(data: Path) -> Iterator[Example]:
    """Quintd-1: phones, weather forecasts and entities, each text marked by one person."""
    for domain in DOMAINS:
        for row in json_lines(data / "quintd1" / f"{domain}.jsonl"):
            flags = row["human_flags"]
            if not row["output"].strip() or flags.get("is_off_topic"):
                continue
            spans = tuple(
                Span(each["start"], each["end"], each["type"] in ("INCORRECT", "MISLEADING"))
                for each in row["human_spans"]
                if each["type"] != "OTHER" and 0 <= each["start"] < each["end"]
            )
            record = _record(row["prompt"])
            yield Example(
                data_set=f"quintd1/{domain}",
                source=_record_key(domain, record, row["idx"]),
                task="data",
                evidence=(record if isinstance(record, str) else json.dumps(record, ensure_ascii=False),),
                text=row["output"],
                is_unsupported=bool(spans),
                spans=spans,
                writer=row["model"],
            )


def _record(prompt: str) -> Any:
    """The data of a prompt, as a value where it is a Python literal."""
    text = prompt.split("```")[1].strip()
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def _record_key(domain: str, record: Any, number: int | str) -> str:
    """What names a record in both sets: a phone by its identifier, a forecast by its city."""
    if domain == "gsmarena" and isinstance(record, dict):
        return f"{domain}/{record['id']}"
    if domain == "openweather" and isinstance(record, dict):
        return f"{domain}/{record['city']['name']}"
    return f"{domain}/{number}"


def read_d2t_eval(data: Path) -> Iterator[Example]:
    """D2T-Eval: football matches, phones and forecasts, some texts marked by two people."""
    for row in json_lines(data / "d2t_eval" / "d2t_eval.jsonl"):
        domain = row["domain"]
        marked = [[each for each in marks if each["kind"] in D2T_KINDS] for marks in row["annotations"]]
        spans, disputed = _agreed(marked)
        yield Example(
            data_set=f"d2t_eval/{domain}",
            source=_record_key(domain, row["evidence"], row["id"].rpartition("|")[2]),
            task="data",
            evidence=(json.dumps(row["evidence"], ensure_ascii=False),),
            text=row["text"],
            is_unsupported=bool(spans or disputed),
            spans=spans,
            writer=row["model"],
            disputed=disputed,
        )


def _agreed(marked: list[list[dict[str, Any]]]) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Marks that touch one of everybody else's, and those that do not."""
    agreed, disputed = [], []
    for number, marks in enumerate(marked):
        others = [each for place, each in enumerate(marked) if place != number]
        for mark in marks:
            span = Span(mark["start"], mark["end"], D2T_KINDS[mark["kind"]])
            is_shared = all(any(_touch(mark, each) for each in other) for other in others)
            (agreed if is_shared else disputed).append(span)
    return tuple(agreed), tuple(disputed)


def _touch(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["start"] < other["end"] and other["start"] < one["end"])


def read_basketball(data: Path) -> Iterator[Example]:
    """Summaries of basketball games, with each mistake marked by its words."""
    folder = data / "accuracy_shared_task" / "train"
    mistakes: dict[str, list[dict[str, str]]] = {}
    for row in table_rows(folder / "gsml.csv"):
        mistakes.setdefault(row["TEXT_ID"].removesuffix(".txt"), []).append(row)
    games = [json.loads(line) for line in (folder / "shared_task.jsonl").read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(table_rows(folder / "games.csv")):
        words = (folder / "texts" / f"{row['TEXT_ID']}.txt").read_text(encoding="utf-8").split()
        starts = [sum(len(word) + 1 for word in words[:place]) for place in range(len(words))]
        spans = []
        for mistake in mistakes.get(row["TEXT_ID"], []):
            first, last = int(mistake["DOC_TOKEN_START"]) - 1, int(mistake["DOC_TOKEN_END"]) - 1
            if words[first : last + 1] == mistake["TOKENS"].split():
                spans.append(Span(starts[first], starts[last] + len(words[last]), mistake["TYPE"] != "NOT_CHECKABLE"))
        yield Example(
            data_set="accuracy_shared_task",
            source=row["TEXT_ID"],
            task="data",
            evidence=(json.dumps(_game(games[number]), ensure_ascii=False),),
            text=" ".join(words),
            is_unsupported=bool(spans),
            spans=tuple(spans),
        )


def _game(game: dict[str, Any]) -> dict[str, Any]:
    """A box score by player instead of by column."""
    score = game["box_score"]
    players = []
    for key in score["FIRST_NAME"]:
        line = {column: values[key] for column, values in score.items() if values.get(key) not in (None, "N/A")}
        name = f"{line.pop('FIRST_NAME', '')} {line.pop('SECOND_NAME', '')}".strip()
        line.pop("PLAYER_NAME", None)
        players.append({"name": name, **line})
    known = ("home_name", "home_city", "vis_name", "vis_city", "day", "home_line", "vis_line")
    return {**{key: game[key] for key in known if key in game}, "players": players}
