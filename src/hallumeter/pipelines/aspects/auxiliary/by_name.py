"""Choose an auxiliary classifier from what a user types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hallumeter.errors import SettingsError

from .lexicon import LexiconClassifier
from .protocol import Classifier
from .sklearn_file import SklearnClassifier
from .transformers_folder import TransformersClassifier, ZeroShotClassifier

CHECKPOINT_FORMS = ("lexicon", "sklearn:PATH", "transformers:FOLDER", "zero-shot:FOLDER")
"""What a user can type. Reading the file of ``sklearn:PATH`` runs the code in it: name only files that you trust."""
_LANGUAGE_MODEL = "llm:"
_MAKERS: dict[str, Callable[[Path, Mapping[str, str] | None], Classifier]] = {
    "sklearn": SklearnClassifier,
    "transformers": TransformersClassifier,
    "zero-shot": ZeroShotClassifier,
}


def classifier_named(checkpoint: str, id2label: Mapping[str, str] | None = None) -> Classifier:
    """The classifier that a text names, in one of `CHECKPOINT_FORMS`.

    `id2label` tells what its classes mean, by their name or number, where their names do not.

    Raises:
        SettingsError: There is no such form; a language model is refused, since it would only be one more agent.
        InputError: There is no such file or folder.
        MissingExtraError: A package for it is not installed.
    """
    if checkpoint.strip().lower().startswith(_LANGUAGE_MODEL):
        raise SettingsError(
            f"{checkpoint!r} is a language model, and the auxiliary classifier must be none; expected one of "
            f"{', '.join(CHECKPOINT_FORMS)}"
        )
    if checkpoint == "lexicon":
        return LexiconClassifier()
    kind, _, place = checkpoint.partition(":")
    if kind not in _MAKERS or not place.strip():
        hint = ""
        if Path(checkpoint).exists():
            hint = (
                f"; for this file or folder write what it is, such as sklearn:{checkpoint} or transformers:{checkpoint}"
            )
        raise SettingsError(
            f"no classifier is called {checkpoint!r}; expected one of {', '.join(CHECKPOINT_FORMS)}{hint}"
        )
    return _MAKERS[kind](Path(place).expanduser(), id2label)
