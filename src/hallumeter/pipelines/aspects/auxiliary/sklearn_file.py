"""A classifier of scikit-learn out of a file of joblib or pickle.

Reading such a file runs the code that is in it. It is only ever read when a user typed ``sklearn:`` before its path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from hallumeter.errors import InputError, MissingExtraError, SettingsError

from .label_names import labels_of
from .protocol import Classified, SignalLabel

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
        self._model, digest = _loaded(path)
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


def _loaded(path: Path) -> tuple[_Model, str]:
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
