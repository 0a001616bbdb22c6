"""The built-in classifier: the words of a lexicon, by the reader of the language."""

from __future__ import annotations

import re

from hallumeter.extractors.aspects import reader_for

from .label_names import SHORT
from .protocol import Classified

_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")


class LexiconClassifier:
    """Says what the words of a text feel, in Korean where it has Korean letters and in English elsewhere."""

    model_id = "lexicon"

    def classify(self, text: str) -> Classified:
        """How a text feels by its words alone."""
        reader = reader_for("ko" if _HANGUL.search(text) is not None else "en")
        felt = reader.sentence_polarity(text)
        return Classified(SHORT[felt.polarity], felt.confidence)
