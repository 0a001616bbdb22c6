"""Resources to patients: everything that points to a patient becomes part of one record, whatever file it came from."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hallumeter.formats.plain_words import plain_message

from .dates import day_of, moment_of
from .entries import Trouble, kind_of
from .resources import (
    KINDS,
    Condition,
    Medication,
    MedicationUse,
    Observation,
    OtherEntry,
    Patient,
    Procedure,
    Reference,
    Resource,
)
from .versions import OLD_KINDS, other_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .entries import Entry

_DECODERS = {kind: msgspec.json.Decoder(type_) for kind, type_ in KINDS.items()}
_MEDICATION = _DECODERS["Medication"]


class PatientRecord(Struct, frozen=True):
    """All that is read of one patient."""

    patient_id: str
    source: str
    """The file, or the folder whose files were joined."""
    patient: Patient
    conditions: tuple[Condition, ...] = ()
    medications: tuple[MedicationUse, ...] = ()
    """With the medication that each points to put in, and reasons as ``Condition/id``."""
    observations: tuple[Observation, ...] = ()
    procedures: tuple[Procedure, ...] = ()
    last_day: date | None = None
    """The day of the latest dated entry of any type that is read."""


class Gathering:
    """The resources of one bundle, or of all files that are joined; then the patients among them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.troubles: list[Trouble] = []
        self.version: tuple[str, str] | None = None
        """The version of FHIR, when it is not R4, and what shows it."""
        self._kinds: Counter[str] = Counter()
        self._resources: dict[str, Resource] = {}
        self._places: dict[str, str] = {}
        """Each way to point to a resource, and its name in `_resources`."""
        self._notices: list[str] = []
        self._doubles = 0
        self._first_double = ""

    def add(self, entry: Entry) -> None:
        """Take in one resource."""
        self._kinds[entry.kind] += 1
        if entry.kind in OLD_KINDS:
            self.version = self.version or (OLD_KINDS[entry.kind], f"it has a {entry.kind}")
        if not entry.kind:
            self.troubles.append(Trouble(entry.place, "not_fhir", "an entry names no resourceType and is left out"))
        if entry.kind not in KINDS:
            return
        try:
            resource = _DECODERS[entry.kind].decode(entry.resource)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            message = f"a {entry.kind} cannot be read and is left out: {plain_message(error)}"
            self.troubles.append(Trouble(entry.place, "bad_resource", message))
            return
        self._keep(entry, resource)

    def _keep(self, entry: Entry, resource: Resource) -> None:
        kind, full_url = entry.kind, entry.full_url or ""
        if resource.id is None and full_url:
            resource = replace(resource, id=full_url.replace(":", "/").rpartition("/")[2])
        if self.version is None and (found := other_version(kind, resource)) is not None:
            self.version = found[0], f"{kind}/{resource.id}: {found[1]}"
        key = f"{kind}/{resource.id}" if resource.id else f"{kind}#{len(self._resources)}"
        earlier = self._resources.get(key)
        if earlier is not None:
            self._doubles += 1
            self._first_double = self._first_double or key
            if _updated(resource) <= _updated(earlier):
                return
        self._resources[key] = resource
        self._places[key] = key
        self._places[f"urn:uuid:{resource.id}"] = key
        if full_url.startswith("urn:"):
            self._places[full_url] = key

    def records(self) -> Iterator[PatientRecord | Trouble]:
        """Every patient, and what is wrong with the whole."""
        yield from self.troubles
        if self.version is not None:
            version, why = self.version
            message = f"this is FHIR {version} ({why}); expected R4 (4.0), convert it first"
            yield Trouble(self.name, "wrong_version", message)
            return
        patients = {key: each for key, each in self._resources.items() if isinstance(each, Patient)}
        if not patients:
            yield Trouble(self.name, "no_patient", f"no Patient found among {self._contents()}")
            return
        belongings = self._by_patient(patients)
        yield from (Trouble(self.name, "odd", notice, is_fault=False) for notice in self._notices)
        for key, patient in patients.items():
            yield self._record(patient, belongings[key])

    @property
    def is_filled(self) -> bool:
        """Whether there was anything at all."""
        return bool(self._kinds or self.troubles)

    def _contents(self) -> str:
        counts = [f"{count} {kind or 'nameless entry'}" for kind, count in self._kinds.most_common(4)]
        more = len(self._kinds) - len(counts)
        return ", ".join(counts) + (f" and {more} other types" if more else "") if counts else "no resource at all"

    def _by_patient(self, patients: dict[str, Patient]) -> dict[str, list[Resource]]:
        """What points to each patient; what points to nobody is noticed."""
        belongings: dict[str, list[Resource]] = defaultdict(list)
        only = next(iter(patients)) if len(patients) == 1 else None
        lost: list[str] = []
        nameless = 0
        for key, resource in self._resources.items():
            if isinstance(resource, Patient | Medication):
                continue
            pointer = resource.subject or resource.patient
            owner = only if pointer is None else self._pointed_to(pointer)
            nameless += pointer is None and only is not None
            if owner in patients:
                belongings[owner].append(resource)
            else:
                lost.append(key)
        if lost:
            self._notices.append(
                f"{len(lost)} resources point to no patient that is there and are left out, as {lost[0]}"
            )
        if self._doubles:
            double = f"{self._doubles} ids stand twice, as {self._first_double}"
            self._notices.append(f"{double}; the last updated resource is used, else the first")
        if nameless:
            self._notices.append(f"{nameless} resources name no subject and are taken for the only patient's")
        return belongings

    def _pointed_to(self, reference: Reference) -> str | None:
        """The name of the resource that a reference means."""
        text = reference.reference or ""
        if text in self._places:
            return self._places[text]
        parts = text.partition("/_history/")[0].split("/")
        return self._places.get("/".join(parts[-2:]))

    def _record(self, patient: Patient, belongings: list[Resource]) -> PatientRecord:
        medications = [self._with_medication(each) for each in belongings if isinstance(each, MedicationUse)]
        return PatientRecord(
            patient_id=patient.id or self.name,
            source=self.name,
            patient=patient,
            conditions=tuple(each for each in belongings if isinstance(each, Condition)),
            medications=tuple(medications),
            observations=tuple(each for each in belongings if isinstance(each, Observation)),
            procedures=tuple(each for each in belongings if isinstance(each, Procedure)),
            last_day=_last_day(belongings),
        )

    def _with_medication(self, use: MedicationUse) -> MedicationUse:
        reasons = [self._pointed_to(each) for each in use.reason_reference or ()]
        concept = use.medication_codeable_concept
        if concept is None and use.medication_reference is not None:
            medication = self._contained(use) or self._resources.get(self._pointed_to(use.medication_reference) or "")
            concept = medication.concept if isinstance(medication, Medication) else None
        return replace(
            use,
            medication_codeable_concept=concept,
            reason_reference=tuple(Reference(each) for each in reasons if each),
        )

    @staticmethod
    def _contained(use: MedicationUse) -> Medication | None:
        """The medication that stands inside the request and is pointed to by ``#id``."""
        pointer = use.medication_reference.reference if use.medication_reference else None
        for resource in use.contained or () if pointer and pointer.startswith("#") else ():
            try:
                inside = _MEDICATION.decode(resource) if kind_of(resource) == "Medication" else None
            except msgspec.DecodeError:
                continue
            if isinstance(inside, Medication) and f"#{inside.id}" == pointer:
                return inside
        return None


def _updated(resource: Resource) -> float:
    moment = moment_of(resource.meta.last_updated if resource.meta else None)
    return moment.timestamp() if moment else 0.0


def _last_day(belongings: list[Resource]) -> date | None:
    """The latest day of anything dated."""
    dated = Condition | MedicationUse | Observation | OtherEntry | Procedure
    texts = {each.date for each in belongings if isinstance(each, dated)}
    days = {text[:10] for text in texts if text}
    return max((day for day in map(day_of, days) if day), default=None)
