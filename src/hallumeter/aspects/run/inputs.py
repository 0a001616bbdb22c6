"""What is read by agents: sentences with their languages, gold that is set apart, and a pool of demonstrations."""

from __future__ import annotations

import hashlib
import random
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, field

from hallumeter.aspects.agents.protocol import Demonstration
from hallumeter.aspects.settings import Sentence
from hallumeter.errors import InputError, RecordError
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile
from hallumeter.records.response import FieldValue
from hallumeter.run.inputs import sha256_of

from .experiment import Experiment, Source
from .rows import GOLD_FIELDS, Gold, Row, failure_of, gold_of, leak_in, read_gold, read_table

# Demonstrations: examples of the training file that agents are shown, drawn by a seed.


class DemoPool(Struct, frozen=True):
    """All that may be shown, by language."""

    by_language: dict[str, tuple[Demonstration, ...]] = field(default_factory=dict)
    avoided: int = 0
    """Examples that were left out, since their text is that of a sentence that is read."""

    @classmethod
    def of(cls, demos: Sequence[tuple[str, Demonstration]], avoided: Iterable[str]) -> DemoPool:
        """The examples whose text is none of those to be avoided; of equal texts the first.

        >>> demos = [("en", Demonstration("a", "Good soup.", ())), ("en", Demonstration("b", "good  SOUP.", ()))]
        >>> [len(DemoPool.of(demos, texts).by_language.get("en", ())) for texts in ([], ["GOOD soup."])]
        [1, 0]
        """
        seen = {text_hash(text) for text in avoided}
        kept: dict[str, list[Demonstration]] = {}
        left_out = 0
        known: set[str] = set()
        for language, demo in demos:
            digest = text_hash(demo.text)
            left_out += digest in seen
            if digest not in seen and digest not in known:
                kept.setdefault(language, []).append(demo)
            known.add(digest)
        return cls({language: tuple(own) for language, own in kept.items()}, left_out)

    def drawn(self, count: int, *, seed: int, text_id: str, language: str) -> tuple[Demonstration, ...]:
        """Some examples in the language of a sentence: always the same for the same seed and sentence."""
        pool = self.by_language.get(language, ())
        # Seeded by text: Python hashes it the same way in every process.
        generator = random.Random(f"{seed} {text_id}")  # noqa: S311 (it chooses examples, and guards nothing)
        return tuple(generator.sample(pool, min(count, len(pool))))

    @staticmethod
    def shown(drawn: Iterable[tuple[Demonstration, ...]]) -> list[Demonstration]:
        """All that are shown to someone, each once, in the order in which they are drawn."""
        return list({demo.demo_id: demo for demos in drawn for demo in demos}.values())

    def notices(self, count: int, languages: Iterable[str]) -> list[str]:
        """What a user should know of the pool, in the languages of the sentences."""
        lines = []
        if self.avoided:
            lines.append(f"{self.avoided:,} demonstrations were left out: their texts are among the sentences to read")
        sizes = {language: len(self.by_language.get(language, ())) for language in languages}
        few = [f"{language} {size:,}" for language, size in sizes.items() if size < count]
        if few:
            lines.append(f"demo.k is {count}, and the pool has fewer: {', '.join(few)}")
        return lines


def text_hash(text: str) -> str:
    """A hash that is the same for texts which differ in case, width of letters or spaces alone.

    >>> text_hash("Good  soup") == text_hash("GOOD soup")
    True
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()


LANGUAGES = ("ko", "en")
_TEXTS = ("text", "input_text", "sentence", "review")
_IDS = ("text_id", "uid", "id", "record_id")
_LANGUAGES = ("language", "language_code", "lang")
_PLAIN = {"domain": ("domain", "domain_id"), "split": ("split",), "case_type": ("case_type",)}
"""Usual names of columns, the first that a row has counts."""
_HANGUL = re.compile("[가-힣ㄱ-ㆎᄀ-ᇿ]")
_LATIN = re.compile("[A-Za-z]")
TOO_LONG = "length: too_long: "
"""How the failure of a sentence begins that is longer than `data.max_length`."""


class Inputs(Struct, frozen=True):
    """What a run reads."""

    sentences: tuple[Sentence, ...]
    files: tuple[InputFile, ...]
    """The sentences' own, then those of gold and of demonstrations."""
    pool: DemoPool = DemoPool()
    failures: tuple[Failure, ...] = ()
    """Rows that could not be used."""
    notices: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """Of the whole input, where this is a part of it."""


def read_inputs(experiment: Experiment, *, is_strict: bool = False) -> Inputs:
    """Everything that an experiment names; rows that cannot be used are failures, or with `is_strict` errors.

    Raises:
        InputError: A file cannot be read, has no sentence, or carries its own labels.
        RecordError: A row cannot be used, and that is strict.
    """
    source = experiment.data
    reading = _Reading(source, has_guard=experiment.pipeline.leakage_guard)
    sentences = reading.sentences(limit=source.max_sentences)
    files = [InputFile(source.input.name, sha256_of(source.input), len(sentences))]
    failures, notices = reading.failures, reading.notices
    if experiment.gold is not None:
        gold, faults = read_gold(experiment.gold)
        files.append(InputFile(experiment.gold.name, sha256_of(experiment.gold), len(gold)))
        failures += faults
        sentences = _with_gold(sentences, gold, notices)
    pool = DemoPool()
    if source.train_file is not None and experiment.demo.k:
        demos, faults = _read_pool(source.train_file)
        files.append(InputFile(source.train_file.name, sha256_of(source.train_file), len(demos)))
        failures += faults
        if not experiment.demo.hash_filter:
            notices.append("demo.hash_filter is off: a sentence may be shown to its own agents, with its gold")
        avoided = [each.text for each in sentences] if experiment.demo.hash_filter else []
        pool = DemoPool.of(demos, avoided)
        notices += pool.notices(experiment.demo.k, sorted({each.language for each in sentences}))
        if not pool.by_language:
            raise InputError(f"{source.train_file}: no demonstration can be drawn from it; mend it, or set demo.k: 0")
    if failures and is_strict:
        raise RecordError(failures[0].message)
    if not sentences:
        first = f"; the first fault: {failures[0].message}" if failures else ""
        raise InputError(f"{source.input}: no sentence to read{first}")
    return Inputs(tuple(sentences), tuple(files), pool, tuple(failures), tuple(notices))


class _Reading:
    """Rows on their way to sentences."""

    def __init__(self, source: Source, *, has_guard: bool) -> None:
        self._source = source
        self._has_guard = has_guard
        self.failures: list[Failure] = []
        self.notices: list[str] = []

    def sentences(self, *, limit: int | None) -> list[Sentence]:
        """All that can be read, up to a number."""
        path = self._source.input
        table = read_table(path, self._source.input_format)
        self.failures += table.failures
        if not self._has_guard:
            self.notices.append("leakage_guard is off: sentences may carry their own labels")
        self._check_columns(table.rows)
        found: dict[str, tuple[int, Sentence]] = {}
        without_id = 0
        for row in table.rows:
            if limit is not None and len(found) >= limit:
                break
            try:
                sentence, has_id = self._sentence(row)
                if sentence.text_id in found:
                    earlier = found[sentence.text_id][0]
                    raise RecordError(f"id {sentence.text_id!r} stands on line {earlier} too; kept is that")
            except RecordError as error:
                self.failures.append(failure_of(path, row.line, str(error), record_id=self._id_of(row)))
            else:
                found[sentence.text_id] = row.line, sentence
                without_id += not has_id
        if without_id:
            self.notices.append(f"{path.name}: {without_id:,} sentences have no id; they are named by their lines")
        sentences = [sentence for _, sentence in found.values()]
        self.notices += _notices_of_gold(sentences)
        return sentences

    def _id_of(self, row: Row) -> str | None:
        """The id that a row names, if any."""
        return _text_or_none(_taken(dict(row.values), self._source.id_column, _IDS))

    def _gold(self, row: Row, values: Mapping[str, object]) -> Gold | None:
        """The gold of a row; what cannot be understood is left out, and the sentence is read all the same."""
        try:
            return gold_of(values)
        except RecordError as error:
            text = f"its gold is left out: {error}"
            self.failures.append(
                failure_of(self._source.input, row.line, text, code="bad_gold", record_id=self._id_of(row))
            )
            return None

    def _check_columns(self, rows: list[Row]) -> None:
        """Refuse a file that lacks a column which the experiment names."""
        wanted = {
            "text_column": self._source.text_column,
            "id_column": self._source.id_column,
            "language_column": self._source.language_column,
        }
        names = dict.fromkeys(key for row in rows for key in row.values)
        for setting, name in wanted.items():
            if name is not None and rows and name not in names:
                raise InputError(
                    f"{self._source.input}: has no column {name!r}, which data.{setting} names; "
                    f"it has {', '.join(names) or 'none'}"
                )

    def _sentence(self, row: Row) -> tuple[Sentence, bool]:
        """A row as a sentence, and whether it has an id of its own.

        Raises:
            RecordError: It cannot be used.
            InputError: It carries its own labels.
        """
        left = dict(row.values)
        text = _taken(left, self._source.text_column, _TEXTS)
        name = _taken(left, self._source.id_column, _IDS)
        language = _taken(left, self._source.language_column, _LANGUAGES)
        plain = {field: _taken(left, None, names) for field, names in _PLAIN.items()}
        gold = self._gold(row, left)
        left = {key: value for key, value in left.items() if key not in GOLD_FIELDS}
        self._check_text(text, row)
        leak = leak_in(str(text), left) if self._has_guard else None
        if leak is not None:
            raise InputError(
                f"{self._source.input}:{row.line}: {leak}; agents must not be told what they are to find: take it "
                "out, give gold as gold_tuples or under eval: gold, or set pipeline.leakage_guard: false"
            )
        sentence = Sentence(
            text_id=f"line-{row.line}" if name is None else str(name),
            text=str(text),
            language=_language(str(text), language, self._source.language),
            domain=_text_or_none(plain["domain"]) or self._source.domain,
            split=_text_or_none(plain["split"]),
            case_type=_text_or_none(plain["case_type"]),
            gold_tuples=gold,
            fields={key: _field_value(value) for key, value in left.items() if value is not None},
            unreadable=self._unreadable(str(text)),
        )
        return sentence, name is not None

    def _check_text(self, text: object, row: Row) -> None:
        if not isinstance(text, str):
            names = self._source.text_column or " or ".join(_TEXTS)
            found = f"only {', '.join(row.values) or 'nothing'}; data.text_column can name it"
            if text is not None:
                found = f"{text!r}, which is no text"
            raise RecordError(f"expected a text under {names}, found {found}")
        if not text.strip():
            raise RecordError("the text is empty; expected a sentence")

    def _unreadable(self, text: str) -> str | None:
        longest = self._source.max_length
        if longest is None or len(text) <= longest:
            return None
        return f"{TOO_LONG}the text has {len(text):,} characters; data.max_length is {longest:,}"


def _taken(values: dict[str, object], column: str | None, usual: tuple[str, ...]) -> object:
    """What stands under a column, or under the first of the usual names that is there; it is taken out."""
    name = column if column is not None else next((each for each in usual if values.get(each) is not None), None)
    return None if name is None else values.pop(name, None)


def _language(text: str, given: object, usual: str | None) -> str:
    """The row's own language, else that of the experiment, else by letters: Korean where there is Hangul."""
    if given is not None:
        found = next((code for code in LANGUAGES if str(given).lower().replace("_", "-").split("-")[0] == code), None)
        if found is None:
            raise RecordError(f"the language {str(given)!r} cannot be read; expected one of {', '.join(LANGUAGES)}")
        return found
    if usual is not None or _HANGUL.search(text):
        return usual or "ko"
    if not _LATIN.search(text):
        raise RecordError(
            "the language cannot be told: no Korean and no Latin letter; name it in the row, or as data.language"
        )
    return "en"


def _notices_of_gold(sentences: list[Sentence]) -> list[str]:
    """What a user should know of gold terms that do not stand where they are said to."""
    absent = [
        (each.text_id, gold.aspect_term)
        for each in sentences
        for gold in each.gold_tuples or ()
        if gold.aspect_term and gold.aspect_term not in each.text
    ]
    misplaced = sum(
        gold.span is not None and each.text[max(gold.span.start, 0) : gold.span.end] != gold.aspect_term
        for each in sentences
        for gold in each.gold_tuples or ()
        if gold.aspect_term and gold.aspect_term in each.text
    )
    lines = []
    if absent:
        name, term = absent[0]
        lines.append(f"{len(absent):,} gold terms do not stand in their sentences, such as {term!r} of {name!r}")
    if misplaced:
        lines.append(f"{misplaced:,} gold terms do not stand at their spans")
    return lines


def _with_gold(sentences: list[Sentence], gold: Mapping[str, Gold], notices: list[str]) -> list[Sentence]:
    """Sentences with the gold of their ids; that of a file of its own counts before that of the row."""
    missing = sum(each.text_id not in gold for each in sentences)
    unknown = len(gold) - (len(sentences) - missing)
    if missing:
        notices.append(f"{missing:,} of {len(sentences):,} sentences have no gold under their ids")
    if unknown:
        notices.append(f"gold of {unknown:,} ids belongs to no sentence that is read")
    return [msgspec.structs.replace(each, gold_tuples=gold.get(each.text_id, each.gold_tuples)) for each in sentences]


def _read_pool(path: Path) -> tuple[list[tuple[str, Demonstration]], list[Failure]]:
    """Demonstrations with their languages."""
    table = read_table(path)
    found: list[tuple[str, Demonstration]] = []
    failures = list(table.failures)
    for line, values in table.rows:
        left = dict(values)
        text, name = _taken(left, None, _TEXTS), _taken(left, None, _IDS)
        try:
            gold = gold_of(left)
            if not isinstance(text, str) or not text.strip() or gold is None:
                raise RecordError("expected a text and gold_tuples to demonstrate with")
            language = _language(text, _taken(left, None, _LANGUAGES), None)
        except RecordError as error:
            failures.append(failure_of(path, line, str(error)))
        else:
            demo_id = f"line-{line}" if name is None else str(name)
            found.append((language, Demonstration(demo_id, text, gold)))
    return found, failures


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)


def _field_value(value: object) -> FieldValue:
    """A value as it can be kept; lists and objects as JSON."""
    if isinstance(value, str | int | float):
        return value
    plain = msgspec.to_builtins(value, enc_hook=str)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
