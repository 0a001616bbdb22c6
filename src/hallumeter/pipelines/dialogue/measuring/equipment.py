"""Everything that answers are judged with, made once and used for all of them."""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hallumeter.extractors.clinical import ClinicalReader
from hallumeter.judges.clinical.consistency import answer_statements, question_statements, sorted_statements
from hallumeter.judges.clinical.settings import load_settings
from hallumeter.judges.clinical.truth import truth_of

if TYPE_CHECKING:
    from hallumeter.extractors.clinical import ClinicalText
    from hallumeter.judges.clinical.consistency import Sorted
    from hallumeter.judges.clinical.opinions import MentionReader, Opinions
    from hallumeter.judges.clinical.settings import Settings
    from hallumeter.judges.clinical.truth import PatientTruth
    from hallumeter.records import PatientSlots

_TEXTS_KEPT = 64
"""The texts of a conversation are read once, and compared with each later one."""
_PATIENTS_KEPT = 64
_DATA = (("hallumeter.text", ("lexicons", "clinical")), ("hallumeter.judges", ("clinical", "words")))


class Equipment:
    """Reader, rules and requirements; shared by all answers of a process, not by threads that change it.

    >>> equipment = Equipment.of(None)
    >>> [mention.name for mention in equipment.read("You are taking metformin.").mentions]
    ['metformin']
    """

    def __init__(
        self, settings: Settings, *, reader: MentionReader | None = None, opinions: Opinions | None = None
    ) -> None:
        self.requirements = settings.requirements
        self.rules = settings.rules
        self.opinions = opinions
        self._reader: MentionReader = ClinicalReader() if reader is None else reader
        self.reader_name = getattr(self._reader, "name", "lexicon")
        self.read = lru_cache(maxsize=_TEXTS_KEPT)(self._read)
        self.stated_in_answer = lru_cache(maxsize=_TEXTS_KEPT)(self._stated_in_answer)
        self.stated_in_question = lru_cache(maxsize=_TEXTS_KEPT)(self._stated_in_question)
        self._truths: dict[int, PatientTruth] = {}

    @classmethod
    def of(cls, folder: Path | None) -> Equipment:
        """With the settings in a folder, or with those that ship."""
        return cls(load_settings(folder))

    def truth(self, slots: PatientSlots) -> PatientTruth:
        """The facts of a patient; those of the last few are kept, since turns come one after the other."""
        known = self._truths.get(id(slots))
        if known is None or known.slots is not slots:
            if len(self._truths) >= _PATIENTS_KEPT:
                self._truths = {}
            # The facts stay alive as long as they are kept, so that no others can take their place in memory.
            known = self._truths[id(slots)] = truth_of(slots)
        return known

    @property
    def signature(self) -> tuple[tuple[str, str], ...]:
        """What every number depends on beside the answers."""
        judge = self.opinions.judge_name if self.opinions is not None else None
        indirect = self.opinions.indirect_name if self.opinions is not None else None
        return (
            ("reader", f"{self.reader_name}-{lexicon_digest()}"),
            ("slots", self.requirements.digest),
            ("rules", self.rules.digest),
            *((("judge", judge),) if judge else ()),
            *((("indirect", indirect),) if indirect else ()),
        )

    def _read(self, text: str) -> ClinicalText:
        return self._reader.read(text)

    def _stated_in_answer(self, text: str) -> Sorted:
        return sorted_statements(answer_statements(self.read(text)))

    def _stated_in_question(self, text: str) -> Sorted:
        return sorted_statements(question_statements(self.read(text)))


@cache
def lexicon_digest() -> str:
    """Differs whenever the words by which mentions and elements are found do."""
    digest = hashlib.blake2b(digest_size=4)
    for package, parts in _DATA:
        folder = resources.files(package).joinpath(*parts)
        for file in sorted(folder.iterdir(), key=lambda each: each.name):
            if file.is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()
