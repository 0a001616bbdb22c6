"""Real models of transformers, tiny and untrained, loaded from a folder; where the extra is installed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from hallumeter.aspects.auxiliary import classifier_named

transformers = pytest.importorskip("transformers", reason="the extra transformers, of gigabytes, is not installed")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "soup", "this", "is", "example", ".", "positive"]


def saved(folder: Path, names: dict[int, str]) -> Path:
    """A model with two small layers, and a tokenizer that knows a few words."""
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        id2label=names,
        label2id={name: number for number, name in names.items()},
    )
    model: Any = transformers.BertForSequenceClassification(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_real_model_classifies_and_can_be_sent_to_another_process(tmp_path: Path) -> None:
    folder = saved(tmp_path / "tiny", {0: "LABEL_0", 1: "LABEL_1"})
    classifier = classifier_named(f"transformers:{folder}", {"0": "negative", "1": "positive"})
    said = classifier.classify("good soup")
    assert said.label in ("pos", "neg")
    assert 0.5 <= (said.confidence or 0) <= 1
    assert pickle.loads(pickle.dumps(classifier)).classify("good soup") == said
    assert classifier.classify("good soup. " * 2000).label in ("pos", "neg")


def test_a_real_model_of_entailment_chooses_one_of_the_words(tmp_path: Path) -> None:
    folder = saved(tmp_path / "entailing", {0: "contradiction", 1: "neutral", 2: "entailment"})
    said = classifier_named(f"zero-shot:{folder}").classify("good soup")
    assert said.label in ("pos", "neg", "neu")
    assert 1 / 3 <= (said.confidence or 0) <= 1
