"""Classifiers of the transformers package, out of folders on this machine: nothing is fetched from anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hallumeter.errors import InputError, MissingExtraError

from .label_names import labels_of
from .protocol import Classified, SignalLabel

_CHOICES = ("positive", "negative", "neutral")
_LONGEST = 512
"""Tokens of a text that are read."""
Outcome = list[dict[str, object]] | dict[str, object]


class TransformersClassifier:
    """A model that was trained to classify texts."""

    def __init__(self, folder: Path, id2label: Mapping[str, str] | None = None) -> None:
        """Load the model.

        Raises:
            InputError: There is no such folder, or no model in it.
            SettingsError: A class of it means nothing that is known.
            MissingExtraError: The packages for it are not installed.
        """
        self._folder = folder
        self._id2label = dict(id2label or {})
        self._asked, names = _loaded(folder, "text-classification")
        self._labels: dict[str, SignalLabel] = labels_of(names, id2label, f"transformers:{folder}")
        self.model_id = f"transformers:{folder.name}"

    def __reduce__(self) -> tuple[type, tuple[Path, dict[str, str]]]:
        return type(self), (self._folder, self._id2label)

    def classify(self, text: str) -> Classified:
        """How a text feels."""
        outcome = self._asked(text, truncation=True, max_length=_LONGEST)
        best = outcome[0] if isinstance(outcome, list) else outcome
        return Classified(self._labels[str(best["label"])], float(str(best["score"])))


class ZeroShotClassifier:
    """A model of entailment, which is asked which of three words a text is."""

    def __init__(self, folder: Path, id2label: Mapping[str, str] | None = None) -> None:
        """Load the model; the keys of `id2label`, where it is given, are the words that the model is asked about.

        Raises:
            InputError: There is no such folder, or no model in it.
            SettingsError: A word means nothing that is known.
            MissingExtraError: The packages for it are not installed.
        """
        self._folder = folder
        self._id2label = dict(id2label or {})
        self._words = list(self._id2label or _CHOICES)
        self._labels: dict[str, SignalLabel] = labels_of(self._words, id2label, f"zero-shot:{folder}")
        self._asked, _ = _loaded(folder, "zero-shot-classification")
        self.model_id = f"zero-shot:{folder.name}"

    def __reduce__(self) -> tuple[type, tuple[Path, dict[str, str]]]:
        return type(self), (self._folder, self._id2label)

    def classify(self, text: str) -> Classified:
        """How a text feels."""
        outcome = self._asked(text, candidate_labels=self._words)
        row = outcome[0] if isinstance(outcome, list) else outcome
        labels, scores = row["labels"], row["scores"]
        assert isinstance(labels, list)
        assert isinstance(scores, list)
        return Classified(self._labels[str(labels[0])], float(scores[0]))


def _loaded(folder: Path, task: str) -> tuple[Callable[..., Outcome], list[str]]:
    """A model that is asked with a text, and the names of its classes in their order."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("transformers", f"{folder.name}: a classifier of transformers") from error
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder}: expected a folder with a model of transformers, and found no config.json in it")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
        asked: Callable[..., Outcome] = transformers.pipeline(task, model=model, tokenizer=tokenizer)
    except Exception as error:
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{folder}: the model cannot be loaded ({cause})") from error
    names: dict[int, str] = model.config.id2label
    return asked, [names[number] for number in sorted(names)]
