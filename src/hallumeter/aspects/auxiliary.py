"""An auxiliary classifier: chosen from what a user types, and what it says beside the agents."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.errors import InputError, MissingExtraError, SettingsError

from .readers.by_language import reader_for
from .records.aspect import SentenceLabel
from .records.outputs import AspectExtraction, AspectSentiments, AuxiliarySignal, PipelineOutput
from .sentiment_words import sentence_label
from .stages.draft import Draft
from .stages.opinions import sentence_opinion

SIGNAL = "hf"
"""Under which name the signal stands in outputs."""


def auxiliary_signal(
    text: str, classifier: Classifier, *, stage1_label: str | None, stage2_label: str | None
) -> AuxiliarySignal:
    """Ask the classifier about a text, and compare with the labels of both stages; mixed counts as neutral.

    >>> from hallumeter.aspects.auxiliary import Classified
    >>> class Grumpy:
    ...     model_id = "grumpy"
    ...     def classify(self, text):
    ...         return Classified("neg", 0.9)
    >>> auxiliary_signal("Fine.", Grumpy(), stage1_label="positive", stage2_label=None).disagrees_with
    {'stage1_final': True, 'stage2_final': None}
    """
    said = classifier.classify(text)
    labels = {"stage1_final": stage1_label, "stage2_final": stage2_label}
    disagrees: dict[str, bool | None] = {}
    for stage, label in labels.items():
        short = None if label is None else signal_label(label)
        disagrees[stage] = None if short is None else short != said.label
    return AuxiliarySignal(said.label, said.confidence, classifier.model_id, disagrees)


def with_signal(output: PipelineOutput, classifier: Classifier) -> PipelineOutput:
    """An output with the signal beside it; nothing else of it changes."""
    stage1_label = _label(output.stage1.ate, output.stage1.atsa)
    stage2_label = _label(output.patched_stage2_ate, output.patched_stage2_atsa)
    signal = auxiliary_signal(output.input_text, classifier, stage1_label=stage1_label, stage2_label=stage2_label)
    return replace(output, aux_signals={**output.aux_signals, SIGNAL: signal})


def _label(aspects: AspectExtraction | None, sentiments: AspectSentiments | None) -> str | None:
    """The label of a stage; None when nobody says anything in it."""
    if sentiments is None:
        return None
    opinion = sentence_opinion(Draft(() if aspects is None else aspects.aspects, sentiments.aspect_sentiments))
    return opinion.label if opinion.confidence > 0 else None


# What a classifier of sentiment is asked, and what it answers.

SignalLabel = Literal["pos", "neg", "neu"]


class Classified(Struct, frozen=True):
    """What a classifier says of a text."""

    label: SignalLabel
    confidence: float | None = None
    """None when the classifier does not say."""


class Classifier(Protocol):
    """Anyone who says how a text feels as a whole. It may be sent to another process."""

    @property
    def model_id(self) -> str:
        """Which one it is."""
        ...

    def classify(self, text: str) -> Classified:
        """How a text feels."""
        ...


# What classifiers call the three sentiments.

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
    text = {str(key): value for key, value in (id2label or {}).items()}
    labels: dict[str, SignalLabel] = {}
    for place, given in enumerate(names):
        name = str(given)
        number = name.removeprefix(_NUMBERED)
        meaning = next((text[key] for key in (name, number, f"{_NUMBERED}{name}", str(place)) if key in text), name)
        label = signal_label(meaning)
        if label is None:
            raise SettingsError(
                f"{checkpoint}: its class {name!r} is called {meaning!r}, which is no sentiment; say in id2label which "
                f"of positive, negative and neutral it is, such as {{{name!r}: 'positive'}}"
            )
        labels[name] = label
    return labels


# Classifiers of the transformers package, out of folders on this machine: nothing is fetched from anywhere.

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
        self._asked, names = _loaded_folder(folder, "text-classification")
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
        self._asked, _ = _loaded_folder(folder, "zero-shot-classification")
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


def _loaded_folder(folder: Path, task: str) -> tuple[Callable[..., Outcome], list[str]]:
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


# A classifier of scikit-learn out of a file of joblib or pickle.
#
# Reading such a file runs the code that is in it. It is only ever read when a user typed ``sklearn:`` before its
# path.

_PROBE = "good"


class _Model(Protocol):
    """What a text pipeline of scikit-learn does."""

    classes_: Sequence[object]

    def predict(self, texts: list[str]) -> Sequence[object]: ...


class SklearnClassifier:
    """A fitted pipeline that takes texts, such as a vectorizer and a linear model."""

    def __init__(self, path: Path, id2label: Mapping[str, str] | None = None) -> None:
        """Read the file, and ask about one text.

        Raises:
            InputError: There is no such file, or it cannot be read.
            SettingsError: What it holds does not classify texts, or a class of it means nothing that is known.
            MissingExtraError: scikit-learn is not installed.
        """
        self._path = path
        self._id2label = dict(id2label or {})
        self._checkpoint = f"sklearn:{path}"
        self._model, digest = _loaded_file(path)
        self._labels: dict[str, SignalLabel] = labels_of(self._model.classes_, id2label, self._checkpoint)
        self.model_id = f"sklearn:{path.name}:{digest}"
        self.classify(_PROBE)

    def __reduce__(self) -> tuple[type, tuple[Path, dict[str, str]]]:
        return type(self), (self._path, self._id2label)

    def classify(self, text: str) -> Classified:
        """How a text feels."""
        shares: Callable[[list[str]], Sequence[Sequence[float]]] | None = getattr(self._model, "predict_proba", None)
        try:
            name = str(self._model.predict([text])[0])
            confidence = None if shares is None else float(max(shares([text])[0]))
        except Exception as error:
            cause = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise SettingsError(
                f"{self._checkpoint}: expected a pipeline that classifies texts; it failed with {cause}"
            ) from error
        return Classified(self._labels[name], confidence)


def _loaded_file(path: Path) -> tuple[_Model, str]:
    """The model in a file, and the beginning of the file's hash."""
    try:
        import joblib
    except ImportError as error:
        raise _missing(path) from error
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a scikit-learn pipeline that joblib or pickle wrote")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    try:
        model: _Model = joblib.load(path)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise InputError(f"{path} needs the Python package {error.name!r}, which is not installed") from error
        raise _missing(path) from error
    except Exception as error:
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{path}: cannot be read as a file of joblib or pickle ({cause})") from error
    if not callable(getattr(model, "predict", None)) or getattr(model, "classes_", None) is None:
        raise SettingsError(f"{path} holds a {type(model).__name__}; expected a fitted classifier of scikit-learn")
    return model, digest


def _missing(path: Path) -> MissingExtraError:
    return MissingExtraError("sklearn", f"{path.name}: a classifier of scikit-learn")


# The built-in classifier: the words of a lexicon, by the reader of the language.

_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")


class LexiconClassifier:
    """Says what the words of a text feel, in Korean where it has Korean letters and in English elsewhere."""

    model_id = "lexicon"

    def classify(self, text: str) -> Classified:
        """How a text feels by its words alone."""
        reader = reader_for("ko" if _HANGUL.search(text) is not None else "en")
        felt = reader.sentence_polarity(text)
        return Classified(SHORT[felt.polarity], felt.confidence)


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
