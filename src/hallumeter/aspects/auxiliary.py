"""An auxiliary classifier: chosen from what a user types, and what it says beside the agents."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
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


# A classifier of scikit-learn out of a file.
#
# A file of skops is read by types: nothing runs but what scikit-learn itself does. Reading a file of joblib or pickle
# runs the code that is in it, so that one is opened only for a user who said by --trust that it may.

_PROBE = "good"


class _Model(Protocol):
    """What a text pipeline of scikit-learn does."""

    classes_: Sequence[object]

    def predict(self, texts: list[str]) -> Sequence[object]: ...


class SklearnClassifier:
    """A fitted pipeline that takes texts, such as a vectorizer and a linear model."""

    def __init__(
        self,
        path: Path,
        id2label: Mapping[str, str] | None = None,
        *,
        is_trusted: bool = False,
        digest: str | None = None,
    ) -> None:
        """Read the file, and ask about one text.

        Args:
            path: A file of skops, or of joblib or pickle if it is trusted.
            id2label: What its classes mean.
            is_trusted: Whether code in the file may run.
            digest: The beginning of the SHA-256 of the file that was read before; another file is not opened.

        Raises:
            InputError: There is no such file, it cannot be read, it is another than before, or it is not trusted.
            SettingsError: What it holds does not classify texts, or a class of it means nothing that is known.
            MissingExtraError: scikit-learn is not installed.
        """
        self._path = path
        self._id2label = dict(id2label or {})
        self._is_trusted = is_trusted
        self._checkpoint = f"sklearn:{path}"
        self._model, self._digest = _loaded_file(path, is_trusted=is_trusted, expected=digest)
        self._labels: dict[str, SignalLabel] = labels_of(self._model.classes_, id2label, self._checkpoint)
        self.model_id = f"sklearn:{path.name}:{self._digest}"
        self.classify(_PROBE)

    def __reduce__(self) -> tuple[Callable[..., SklearnClassifier], tuple[Path, dict[str, str]]]:
        again = partial(type(self), is_trusted=self._is_trusted, digest=self._digest)
        return again, (self._path, self._id2label)

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


def _loaded_file(path: Path, *, is_trusted: bool, expected: str | None) -> tuple[_Model, str]:
    """The model in a file, and the beginning of the file's hash. The bytes that are hashed are those that are read."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a scikit-learn pipeline that skops, joblib or pickle wrote")
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:12]
    if expected is not None and digest != expected:
        raise InputError(f"{path}: has changed since the run began (was {expected}, is {digest}); put the file back")
    try:
        model = _unpacked(content, path, is_trusted=is_trusted)
    except (InputError, MissingExtraError):
        raise
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("sklearn", "joblib", "skops"):
            raise InputError(f"{path} needs the Python package {error.name!r}, which is not installed") from error
        raise _missing(path) from error
    except Exception as error:
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{path}: cannot be read as a file of skops, joblib or pickle ({cause})") from error
    if not callable(getattr(model, "predict", None)) or getattr(model, "classes_", None) is None:
        raise SettingsError(f"{path} holds a {type(model).__name__}; expected a fitted classifier of scikit-learn")
    return model, digest


def _unpacked(content: bytes, path: Path, *, is_trusted: bool) -> _Model:
    if zipfile.is_zipfile(io.BytesIO(content)):
        import skops.io

        unknown = skops.io.get_untrusted_types(data=content)
        if unknown and not is_trusted:
            raise InputError(
                f"{path}: holds {', '.join(unknown[:3])}, which skops does not know to be harmless; "
                f"if you trust the file, add --trust {path}"
            )
        made: _Model = skops.io.loads(content, trusted=unknown)
        return made
    if not is_trusted:
        raise InputError(
            f"{path}: a file of joblib or pickle can run anything when it is opened; save the model by skops "
            f"(skops.io.dump), or add --trust {path} if you trust the file"
        )
    import joblib

    model: _Model = joblib.load(io.BytesIO(content))
    return model


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
"""What a user can type."""
_LANGUAGE_MODEL = "llm:"
_MAKERS: dict[str, Callable[..., Classifier]] = {
    "sklearn": SklearnClassifier,
    "transformers": TransformersClassifier,
    "zero-shot": ZeroShotClassifier,
}


def classifier_named(
    checkpoint: str, id2label: Mapping[str, str] | None = None, *, trusted: Collection[Path] = ()
) -> Classifier:
    """The classifier that a text names, in one of `CHECKPOINT_FORMS`.

    `id2label` tells what its classes mean, by their name or number, where their names do not. Code in the `trusted`
    files may run.

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
    path = Path(place).expanduser()
    if kind == "sklearn":
        is_trusted = path.resolve() in {each.expanduser().resolve() for each in trusted}
        return SklearnClassifier(path, id2label, is_trusted=is_trusted)
    return _MAKERS[kind](path, id2label)


def checkpoint_digest(checkpoint: str) -> str:
    """The SHA-256 of all that a checkpoint reads, without opening any of it as a model; empty if there is no file."""
    kind, _, place = checkpoint.partition(":")
    path = Path(place).expanduser()
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files if kind in _MAKERS else ():
        if file.is_file():
            digest.update(file.name.encode("utf-8", "surrogateescape"))
            with file.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest() if kind in _MAKERS else ""
