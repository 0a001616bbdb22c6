"""Texts about structured data: Quintd-1, and basketball games of the shared task on accuracy."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.examples import Example, Span

from .lines import json_lines, table_rows

DOMAINS = ("gsmarena", "openweather", "wikidata")


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
            yield Example(
                data_set=f"quintd1/{domain}",
                source=str(row["idx"]),
                task="data",
                evidence=(_record(row["prompt"]),),
                text=row["output"],
                is_unsupported=bool(spans),
                spans=spans,
                writer=row["model"],
            )


def _record(prompt: str) -> str:
    """The data of a prompt, as JSON where it is a Python literal."""
    text = prompt.split("```")[1].strip()
    try:
        return json.dumps(ast.literal_eval(text), ensure_ascii=False)
    except (SyntaxError, ValueError):
        return text


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
