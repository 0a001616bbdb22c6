"""What classifiers call the three sentiments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hallumeter.errors import SettingsError
from hallumeter.records.aspects import SentenceLabel
from hallumeter.text.polarity_words import sentence_label

from .protocol import SignalLabel

SHORT: dict[SentenceLabel, SignalLabel] = {"positive": "pos", "negative": "neg", "neutral": "neu", "mixed": "neu"}
_NUMBERED = "LABEL_"
"""Before the number of a class that nobody named."""


def signal_label(name: str) -> SignalLabel | None:
    """The short name of a sentiment; mixed counts as neutral. None for a name that is none.

    >>> signal_label("POSITIVE"), signal_label("mixed"), signal_label("LABEL_0")
    ('pos', 'neu', None)
    """
    label = sentence_label(name)
    return None if label is None else SHORT[label]


def labels_of(names: Iterable[object], id2label: Mapping[str, str] | None, checkpoint: str) -> dict[str, SignalLabel]:
    """The sentiment of each class of a classifier, by the name that the classifier gives it.

    `id2label` tells what a class means: by its name or its number.

    Raises:
        SettingsError: A class means nothing that is known.
    """
    told = {str(key): value for key, value in (id2label or {}).items()}
    labels: dict[str, SignalLabel] = {}
    for place, given in enumerate(names):
        name = str(given)
        number = name.removeprefix(_NUMBERED)
        meaning = next((told[key] for key in (name, number, f"{_NUMBERED}{name}", str(place)) if key in told), name)
        label = signal_label(meaning)
        if label is None:
            raise SettingsError(
                f"{checkpoint}: its class {name!r} is called {meaning!r}, which is no sentiment; say in id2label which "
                f"of positive, negative and neutral it is, such as {{{name!r}: 'positive'}}"
            )
        labels[name] = label
    return labels
