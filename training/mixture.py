"""How often the network reads each data set. One pass over the main sets is the unit of the schedule."""

from __future__ import annotations

from .examples import Example

WARM_UP = {"tabfact": 0.3, "infotabs": 0.3, "foolmetwice": 0.3}
"""Before the main training: the share that is read of claims with a label and no marks. More steps of it taught little:
without a mark, it takes the network long to find where a claim and a record differ."""
MAIN = {
    "ragtruth:qa": 1.0,
    "ragtruth:summary": 3.0,  # there are thirty times as many answers
    "quintd1": 0.7,  # marked by one person each
    "d2t_eval": 1.0,
    "accuracy_shared_task": 1.0,
    "summedits": 1.0,
    "defacto": 1.0,
    "gofigure": 1.0,
    "wice": 0.7,
    "factcheck_gpt": 0.3,
    "written": 0.7,
    "swapped": 0.5,
    "foolmetwice": 0.5,
    "infotabs": 0.2,
    "tabfact": 0.1,
}
"""In each pass; a part of one is drawn anew each time."""


def name_of(example: Example) -> str:
    """By what an example is found in the tables."""
    return f"{example.data_set.partition('/')[0]}:{example.task}"


def times(name: str, table: dict[str, float]) -> float:
    """How often a reading is read, by its set and task or by its set alone."""
    return table.get(name, table.get(name.partition(":")[0], 0.0))
