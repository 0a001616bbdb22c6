"""The words of metrics, read from the data files beside the catalog of each instrument."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from msgspec import structs

if TYPE_CHECKING:
    from hallumeter.records.metric import Metric


def with_texts(package: str, *rows: Metric) -> tuple[Metric, ...]:
    """The rows with their words in English; a metric without an alias is called by its id.

    `package` is the folder of an instrument, such as `hallumeter.claims`, that holds `metrics.en.toml`.
    """
    texts = _english(package)
    return tuple(structs.replace(row, **({"alias": row.id} | texts[row.id])) for row in rows)


@cache
def _english(package: str) -> dict[str, dict[str, str]]:
    return tomllib.loads(resources.files(package).joinpath("metrics.en.toml").read_text(encoding="utf-8"))
