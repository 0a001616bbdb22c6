"""Classifiers that are asked after the pipeline: a trained one of scikit-learn, and what is refused."""

from __future__ import annotations

import builtins
import json
import pickle
import re
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hallumeter.aspects.auxiliary import (
    Classified,
    Classifier,
    SignalLabel,
    auxiliary_signal,
    checkpoint_digest,
    classifier_named,
    labels_of,
    with_signal,
)
from hallumeter.aspects.records.aspect import AspectSentiment, AspectTerm
from hallumeter.aspects.records.outputs import AspectExtraction, AspectSentiments, PipelineOutput, StageOne
from hallumeter.errors import InputError, MissingExtraError, SettingsError

skops = pytest.importorskip("skops.io")
joblib = pytest.importorskip("joblib")
linear_model = pytest.importorskip("sklearn.linear_model")
pipeline = pytest.importorskip("sklearn.pipeline")
text_features = pytest.importorskip("sklearn.feature_extraction.text")

TEXTS = ["terrible awful bad", "awful screen", "bad battery", "great lovely good", "lovely screen", "good battery"]
NAMES = ["negative"] * 3 + ["positive"] * 3


def trained(labels: list[Any], *, model: Any = None) -> Any:
    made = pipeline.make_pipeline(text_features.CountVectorizer(), model or linear_model.LogisticRegression())
    return made.fit(TEXTS, labels)


def trusting(path: Path, id2label: Mapping[str, str] | None = None) -> Classifier:
    """The classifier in a file whose code may run."""
    return classifier_named(f"sklearn:{path}", id2label, trusted=[path])


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    joblib.dump(trained(NAMES), tmp_path / "model.joblib")
    return tmp_path / "model.joblib"


def test_a_trained_pipeline_classifies_texts(model_file: Path) -> None:
    classifier = trusting(model_file)
    bad, good = classifier.classify("an awful, bad battery"), classifier.classify("a good and lovely one")
    assert (bad.label, good.label) == ("neg", "pos")
    assert bad.confidence is not None
    assert 0.5 < bad.confidence <= 1
    assert re.fullmatch(r"sklearn:model\.joblib:[0-9a-f]{12}", classifier.model_id)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The food was delicious.", "pos"),
        ("The waiter was rude.", "neg"),
        ("It was delivered on Monday.", "neu"),
        ("배터리는 최악이에요.", "neg"),
        ("정말 맛있어요!", "pos"),
    ],
)
def test_the_lexicon_is_a_classifier_of_both_languages(text: str, label: str) -> None:
    classifier = classifier_named("lexicon")
    said = classifier.classify(text)
    assert said.label == label
    assert said.confidence is not None
    assert classifier.model_id == "lexicon"
    assert pickle.loads(pickle.dumps(classifier)).classify(text) == said


def test_a_pickled_pipeline_is_read_too_and_can_be_sent_to_another_process(tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(trained(NAMES)))
    classifier = trusting(path)
    there = pickle.loads(pickle.dumps(classifier))
    assert there.model_id == classifier.model_id
    assert there.classify("awful") == classifier.classify("awful")


@pytest.mark.parametrize("id2label", [{"0": "negative", "1": "positive"}, {"LABEL_0": "neg", "LABEL_1": "pos"}])
def test_numbered_classes_are_named_by_the_user(tmp_path: Path, id2label: dict[str, str]) -> None:
    joblib.dump(trained([0, 0, 0, 1, 1, 1]), tmp_path / "numbers.joblib")
    classifier = trusting(tmp_path / "numbers.joblib", id2label)
    assert classifier.classify("awful bad").label == "neg"
    assert pickle.loads(pickle.dumps(classifier)).classify("awful bad").label == "neg"
    with pytest.raises(SettingsError, match="its class '0' is called '0', which is no sentiment; say in id2label"):
        trusting(tmp_path / "numbers.joblib")


def test_a_model_without_probabilities_has_no_confidence(tmp_path: Path) -> None:
    joblib.dump(trained(NAMES, model=linear_model.SGDClassifier(random_state=0)), tmp_path / "m.joblib")
    said = trusting(tmp_path / "m.joblib").classify("awful")
    assert (said.label, said.confidence) == ("neg", None)


def test_what_classifies_no_texts_is_refused(tmp_path: Path) -> None:
    joblib.dump(linear_model.LogisticRegression().fit([[0], [1]], ["neg", "pos"]), tmp_path / "numbers.joblib")
    with pytest.raises(SettingsError, match="expected a pipeline that classifies texts"):
        trusting(tmp_path / "numbers.joblib")
    joblib.dump({"a": 1}, tmp_path / "dict.joblib")
    with pytest.raises(SettingsError, match="holds a dict; expected a fitted classifier"):
        trusting(tmp_path / "dict.joblib")


def test_files_that_are_none_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        trusting(tmp_path / "nothing.joblib")
    (tmp_path / "text.joblib").write_text("hello", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as a file of skops, joblib or pickle"):
        trusting(tmp_path / "text.joblib")


def test_a_file_is_never_unpickled_unless_the_user_says_what_it_is(model_file: Path) -> None:
    with pytest.raises(SettingsError, match=r"for this file or folder write what it is, such as sklearn:") as caught:
        classifier_named(str(model_file))
    assert "lexicon, sklearn:PATH" in str(caught.value)


@pytest.mark.parametrize("checkpoint", ["llm:gpt", "LLM:openai:gpt-4o", " llm:x"])
def test_a_language_model_is_refused(checkpoint: str) -> None:
    with pytest.raises(SettingsError, match="is a language model"):
        classifier_named(checkpoint)


@pytest.mark.parametrize("checkpoint", ["", "bert-base", "sklearn:", "onnx:model"])
def test_a_name_that_is_none_is_refused_with_the_forms(checkpoint: str) -> None:
    with pytest.raises(SettingsError, match="expected one of lexicon, sklearn:PATH"):
        classifier_named(checkpoint)


def without_packages(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make packages look as if they were not installed."""
    imported = builtins.__import__

    def import_others(name: str, *arguments: Any, **more: Any) -> Any:
        if name.partition(".")[0] in names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return imported(name, *arguments, **more)

    for loaded in [each for each in sys.modules if each.partition(".")[0] in names]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setattr(builtins, "__import__", import_others)


@pytest.mark.parametrize("kind", ["transformers", "zero-shot"])
def test_a_missing_package_is_named_with_its_pip_line(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_packages(monkeypatch, "transformers")
    with pytest.raises(MissingExtraError, match=r"pip install 'hallumeter\[transformers\]'"):
        classifier_named(f"{kind}:{tmp_path}")


def test_a_missing_joblib_is_named_with_its_pip_line(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_packages(monkeypatch, "joblib")
    with pytest.raises(MissingExtraError, match=r"pip install 'hallumeter\[sklearn\]'"):
        trusting(model_file)


class _Vanished:
    """Pickles as something of a package that is not there."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return __import__, (self._module,)


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        ("not_installed_here", InputError, "needs the Python package 'not_installed_here'"),
        ("sklearn.not_there", MissingExtraError, "pip install"),
    ],
)
def test_a_model_that_needs_another_package_says_which(
    module: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(_Vanished(module)))
    with pytest.raises(error, match=message):
        trusting(tmp_path / "m.pkl")


class _StandIn(types.ModuleType):
    """What transformers would do; the package itself is too heavy for tests."""

    def __init__(self, names: Mapping[int, str]) -> None:
        super().__init__("transformers")
        self.loaded: list[tuple[str, Any]] = []
        stand_in = self

        class Auto:
            config = types.SimpleNamespace(id2label=dict(names))

            @classmethod
            def from_pretrained(cls, folder: Path, *, local_files_only: bool) -> Auto:
                stand_in.loaded.append((str(folder), local_files_only))
                if (folder / "broken").exists():
                    raise OSError("no weights")
                return cls()

        def pipeline(task: str, *, model: Any, tokenizer: Any) -> Any:
            if task == "text-classification":
                return lambda text, **_: [{"label": names[1] if "good" in text else names[0], "score": 0.75}]
            return lambda text, candidate_labels: {"labels": list(candidate_labels), "scores": [0.6, 0.3, 0.1]}

        self.AutoTokenizer = self.AutoModelForSequenceClassification = Auto
        self.pipeline = pipeline


def test_a_model_of_transformers_is_loaded_from_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = _StandIn({0: "LABEL_0", 1: "LABEL_1"})
    monkeypatch.setitem(sys.modules, "transformers", stand_in)
    folder = tmp_path / "tiny"
    folder.mkdir()
    with pytest.raises(InputError, match=r"found no config\.json"):
        classifier_named(f"transformers:{folder}")
    (folder / "config.json").write_text(json.dumps({}), encoding="utf-8")
    classifier = classifier_named(f"transformers:{folder}", {"0": "negative", "1": "positive"})
    assert classifier.classify("good") == Classified("pos", 0.75)
    assert pickle.loads(pickle.dumps(classifier)).classify("bad") == Classified("neg", 0.75)
    assert set(stand_in.loaded) == {(str(folder), True)}
    assert classifier.model_id == "transformers:tiny"
    with pytest.raises(SettingsError, match="LABEL_0"):
        classifier_named(f"transformers:{folder}")
    (folder / "broken").touch()
    with pytest.raises(InputError, match=r"the model cannot be loaded .OSError: no weights"):
        classifier_named(f"transformers:{folder}")


def test_a_zero_shot_model_is_asked_about_three_words_or_those_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", _StandIn({0: "entailment"}))
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert classifier_named(f"zero-shot:{tmp_path}").classify("x") == Classified("pos", 0.6)
    korean = classifier_named(f"zero-shot:{tmp_path}", {"불만": "negative", "만족": "positive", "보통": "neutral"})
    assert korean.classify("x").label == "neg"
    assert pickle.loads(pickle.dumps(korean)).classify("x").label == "neg"
    assert korean.model_id.startswith("zero-shot:")


def test_mixed_is_neutral() -> None:
    assert labels_of(["mixed", "POS"], None, "x") == {"mixed": "neu", "POS": "pos"}


class Saying:
    """Says the same of every text."""

    model_id = "saying"

    def __init__(self, label: SignalLabel) -> None:
        self._label: SignalLabel = label

    def classify(self, text: str) -> Classified:
        return Classified(self._label, 0.7)


@pytest.mark.parametrize(
    ("stage1", "stage2", "disagrees"),
    [
        ("negative", "positive", (False, True)),
        ("mixed", "neutral", (True, True)),
        (None, "neg", (None, False)),
        ("strange", None, (None, None)),
    ],
)
def test_a_signal_is_compared_with_both_stages(
    stage1: str | None, stage2: str | None, disagrees: tuple[bool | None, bool | None]
) -> None:
    signal = auxiliary_signal("Bad.", Saying("neg"), stage1_label=stage1, stage2_label=stage2)
    assert (signal.task, signal.label, signal.confidence, signal.model_id) == ("sentiment", "neg", 0.7, "saying")
    assert signal.disagrees_with == dict(zip(("stage1_final", "stage2_final"), disagrees, strict=True))


def test_mixed_agrees_with_a_neutral_signal() -> None:
    signal = auxiliary_signal("Well.", Saying("neu"), stage1_label="mixed", stage2_label="mixed")
    assert signal.disagrees_with == {"stage1_final": False, "stage2_final": False}


def test_a_signal_stands_beside_an_output_and_changes_nothing_else() -> None:
    said = AspectSentiments((AspectSentiment(AspectTerm("battery"), "negative", 0.9),))
    output = PipelineOutput(
        "t1", "Bad battery.", StageOne(AspectExtraction(), said), patched_stage2_atsa=AspectSentiments()
    )
    signalled = with_signal(output, Saying("pos"))
    assert signalled.aux_signals["hf"].disagrees_with == {"stage1_final": True, "stage2_final": None}
    assert (signalled.stage1, signalled.final_result, signalled.moderator) == (output.stage1, None, None)
    without = with_signal(PipelineOutput("t1", "Bad."), Saying("pos"))
    assert without.aux_signals["hf"].disagrees_with == {"stage1_final": None, "stage2_final": None}


class Grumpy(linear_model.LogisticRegression):  # type: ignore[misc, name-defined]
    """A model of a type that is not scikit-learn's own."""

    def predict(self, rows: Any) -> list[str]:
        return ["negative"] * rows.shape[0]


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, touched: Path) -> None:
        self._touched = touched

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        return Path.touch, (self._touched,)


def test_a_pickle_is_not_opened_unless_it_is_trusted(tmp_path: Path) -> None:
    trap, touched = tmp_path / "trap.joblib", tmp_path / "touched"
    trap.write_bytes(pickle.dumps(Trap(touched)))
    for trusted in ((), [tmp_path / "other.joblib"], [tmp_path]):
        with pytest.raises(InputError, match=r"can run anything when it is opened; .*--trust"):
            classifier_named(f"sklearn:{trap}", trusted=trusted)
    assert not touched.exists()


def test_a_file_of_skops_is_read_by_its_types(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    skops.dump(trained(NAMES), path)
    classifier = classifier_named(f"sklearn:{path}")
    assert classifier.classify("an awful, bad battery").label == "neg"
    assert pickle.loads(pickle.dumps(classifier)).model_id == classifier.model_id


def test_a_file_of_skops_with_unknown_types_is_refused_unless_it_is_trusted(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    skops.dump(trained(NAMES, model=Grumpy()), path)
    with pytest.raises(InputError, match=r"Grumpy, which skops does not know to be harmless; .*--trust"):
        classifier_named(f"sklearn:{path}")
    assert trusting(path).classify("good").label == "neg"


def test_a_file_that_changed_is_not_opened_in_another_process(model_file: Path) -> None:
    sent = pickle.dumps(trusting(model_file))
    touched = model_file.with_name("touched")
    model_file.write_bytes(pickle.dumps(Trap(touched)))
    with pytest.raises(InputError, match="has changed since the run began"):
        pickle.loads(sent)
    assert not touched.exists()


def test_the_digest_of_a_checkpoint_is_that_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    one, folder = checkpoint_digest(f"sklearn:{tmp_path / 'a'}"), checkpoint_digest(f"transformers:{tmp_path}")
    assert checkpoint_digest(f"sklearn:{tmp_path / 'a'}") == one
    (tmp_path / "a").write_bytes(b"2")
    assert checkpoint_digest(f"sklearn:{tmp_path / 'a'}") != one
    assert checkpoint_digest(f"transformers:{tmp_path}") != folder
    assert checkpoint_digest("lexicon") == ""
