"""What of a text is looked up: its words, folded so that the ways to write them make no difference."""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\uff07\u2032`\u00b4", "'"))
# A letter, or a word in -qu, before an apostrophe is an article or a conjunction in French: l'eau, qu'elle,
# jusqu'ici.
_ELIDED = re.compile(r"(?<!\w)(?:\w|\w*qu)'(?=\w)")
_POSSESSIVE = re.compile(r"(?<=\w)'s(?!\w)")
_WORD = re.compile(r"[^\W_]+")
_HANGUL_RUN = re.compile("[가-힣]+")
# Writing without spaces: a run is a phrase, and only its parts can be looked up.
_UNSPACED_RUN = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


def tokens_of(text: str) -> list[str]:
    """The words of a text as they are looked up: case, accents, French elisions and the English 's folded away.

    A Korean word stands as a whole and as its pairs of syllables, because particles and endings are glued to it; of
    Chinese and Japanese there are the pairs alone.

    >>> tokens_of("L’Hôpital d'Évreux")
    ['hopital', 'evreux']
    >>> tokens_of("서울에서")
    ['서울에서', '서울', '울에', '에서']
    """
    folded = _folded(text)
    if folded.isascii():
        return _WORD.findall(folded)
    tokens: list[str] = []
    for word in _WORD.findall(folded):
        if _UNSPACED_RUN.search(word) is None:
            tokens.append(word)
            tokens += [pair for run in _HANGUL_RUN.findall(word) for pair in _pairs(run) if pair != word]
        else:
            tokens += [part for piece in _pieces(word) for part in piece]
    return tokens


def _folded(text: str) -> str:
    if not text.isascii():
        text = text.translate(_APOSTROPHES)
        parts = unicodedata.normalize("NFKD", text)
        # Composed again, because Korean syllables came apart too.
        text = unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))
    text = text.casefold()
    if "'" in text or "`" in text:
        text = _POSSESSIVE.sub("", _ELIDED.sub("", text.replace("`", "'")))
    return text


def _pieces(word: str) -> list[list[str]]:
    """Parts of a run of letters in which some are written without spaces: pairs of those, the rest as it is."""
    pieces, done = [], 0
    for run in _UNSPACED_RUN.finditer(word):
        pieces += [[word[done : run.start()]] if run.start() > done else [], _pairs(run.group()) or [run.group()]]
        done = run.end()
    return [*pieces, [word[done:]] if done < len(word) else []]


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)]
