"""Files to patients: bundles one by one, everything else joined at the end."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from hallumeter.errors import InputError, MissingExtraError
from hallumeter.formats.batch import plain_message
from hallumeter.formats.jsonl import BROKEN, open_binary, read_whole

from . import resources

# Files of a folder to the resources in them: bundles, NDJSON, single resources.

SUFFIXES = (".json", ".ndjson", ".jsonl")
_LINES = (".ndjson", ".jsonl")
_JOINED_BUNDLES = {"searchset", "history"}
"""Bundles that may go on in another file."""
_HEAD = re.compile(rb'\s*\{\s*"resourceType"\s*:\s*"(\w+)"')
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Entry(NamedTuple):
    """One resource, not yet decoded."""

    kind: str
    """Its type; empty when it names none."""
    resource: Raw
    full_url: str | None
    place: str
    """The file, and in NDJSON the line."""


Check = Callable[[Entry], str | None]
"""What is wrong with a resource; None for nothing."""


class Trouble(NamedTuple):
    """Something that could not be read, or was odd."""

    place: str
    code: str
    """What is wrong, in one word: ``bad_json``, ``no_patient``."""
    message: str
    is_fault: bool = True
    """False when it is only worth saying."""


class Bundle(NamedTuple):
    """Resources that came together."""

    place: str
    entries: list[Entry]
    is_whole: bool
    """Whether all that is said of its patients stands in it; a search comes in pages that are joined by reference."""
    version: tuple[str, str] | None = None
    """The version of FHIR that the bundle itself names, when it is not R4."""


class _BundleEntry(Struct, rename="camel"):
    full_url: str | None = None
    resource: Raw = Raw()


class _Bundle(Struct, rename="camel"):
    resource_type: str | None = None
    type: str | None = None
    meta: resources.Meta | None = None
    entry: list[_BundleEntry] | None = None


class _Kind(Struct, rename="camel"):
    resource_type: str


_BUNDLE = msgspec.json.Decoder(_Bundle)
_KIND = msgspec.json.Decoder(_Kind)


def fhir_files(path: Path, *, without: Collection[Path] = ()) -> list[Path]:
    """The JSON files of a folder and the folders in it, in order of their names; or the one file that was named."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: there is no such folder; give the folder that holds the FHIR files")
    left_out = {each.resolve() for each in without}
    found = [each for each in sorted(path.rglob("*")) if each.is_file() and not _is_hidden(each.relative_to(path))]
    files = [each for each in found if _suffix(each) in SUFFIXES and each.resolve() not in left_out]
    if not files:
        others = f"; it has {len(found)} other files" if found else "; it is empty"
        raise InputError(f"{path}: no FHIR file found, expected names that end in {', '.join(SUFFIXES)}{others}")
    return files


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _suffix(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def read_file(path: Path, name: str) -> Iterator[Bundle | Entry | Trouble]:
    """What a file holds: bundles, resources on their own, and what cannot be read of it."""
    try:
        if _suffix(path) in _LINES:
            with open_binary(path) as stream:
                yield from _of_lines(stream, name)
        else:
            yield from _of_document(_content(path), name)
    except (*BROKEN, InputError) as error:
        cause = error.__cause__ if isinstance(error, InputError) else error
        yield Trouble(name, "unreadable", f"cannot be read ({getattr(cause, 'strerror', None) or cause})")


def _content(path: Path) -> bytes:
    return read_whole(path).removeprefix(_UTF8_MARK)


def _of_document(content: bytes, name: str) -> Iterator[Bundle | Entry | Trouble]:
    if not content.strip():
        yield Trouble(name, "empty", "the file is empty")
        return
    try:
        yield _decoded(content, name)
    except _UNDECODABLE as error:
        if "trailing" in str(error):  # NDJSON under a name that ends in .json
            yield from _of_lines(content.splitlines(keepends=True), name)
        else:
            yield _trouble(name, content, error)


def _of_lines(lines: Iterable[bytes], name: str) -> Iterator[Bundle | Entry | Trouble]:
    number = 0
    for number, line in enumerate(lines, 1):
        content = line.removeprefix(_UTF8_MARK) if number == 1 else line
        if content.startswith(_UTF16_MARKS) and number == 1:
            yield _trouble(name, content, ValueError())
            return
        if not content.strip():
            continue
        try:
            yield _decoded(content, f"{name}:{number}")
        except _UNDECODABLE as error:
            yield _trouble(f"{name}:{number}", content, error)
    if not number:
        yield Trouble(name, "empty", "the file is empty")


def _decoded(content: bytes, place: str) -> Bundle | Entry:
    kind = kind_of(content)
    if kind != "Bundle":
        _KIND.decode(content)  # looks at all of it, so that a line that was cut off is noticed
        return Entry(kind, Raw(content), None, place)
    bundle = _BUNDLE.decode(content)
    is_whole = bundle.type not in _JOINED_BUNDLES
    return Bundle(place, list(_entries(bundle, place)), is_whole, resources.profile_version(bundle.meta))


def _entries(bundle: _Bundle, place: str) -> Iterator[Entry]:
    for entry in bundle.entry or ():
        if not entry.resource:
            continue  # an answer to a transaction, or the mark of a deletion
        try:
            kind = kind_of(entry.resource)
        except _UNDECODABLE:
            kind = ""
        if kind == "Bundle":
            yield from _entries(_BUNDLE.decode(entry.resource), place)
        else:
            yield Entry(kind, entry.resource, entry.full_url, place)


def kind_of(resource: bytes | Raw) -> str:
    """The type that a resource names, wherever in it that stands.

    Raises msgspec.DecodeError when it names none.

    >>> kind_of(b'{"id": "7", "resourceType": "Patient"}')
    'Patient'
    """
    head = _HEAD.match(resource)
    return head[1].decode() if head else _KIND.decode(resource).resource_type


def _trouble(place: str, content: bytes, error: Exception) -> Trouble:
    if content.startswith(_UTF16_MARKS):
        return Trouble(place, "bad_encoding", "the text is encoded as UTF-16; save it as UTF-8")
    if isinstance(error, UnicodeDecodeError):
        return Trouble(place, "bad_encoding", f"not UTF-8 (byte {error.start}); save the file as UTF-8")
    if isinstance(error, msgspec.ValidationError):
        return Trouble(place, "not_fhir", f"not a FHIR resource ({plain_message(error).removeprefix('row: ')})")
    reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).removesuffix(".")
    return Trouble(place, "bad_json", f"not valid JSON ({reason.removeprefix('JSON is malformed: ')})")


# Resources to patients: everything that points to a patient becomes part of one record, whatever file it came from.

_DECODERS = {kind: msgspec.json.Decoder(type_) for kind, type_ in resources.KINDS.items()}
_MEDICATION = _DECODERS["Medication"]


class PatientRecord(Struct, frozen=True):
    """All that is read of one patient."""

    patient_id: str
    source: str
    """The file, or the folder whose files were joined."""
    patient: resources.Patient
    conditions: tuple[resources.Condition, ...] = ()
    medications: tuple[resources.MedicationUse, ...] = ()
    """With the medication that each points to put in, and reasons as ``Condition/id``."""
    observations: tuple[resources.Observation, ...] = ()
    procedures: tuple[resources.Procedure, ...] = ()
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
        self._resources: dict[str, resources.Resource] = {}
        self._places: dict[str, str] = {}
        """Each way to point to a resource, and its name in `_resources`."""
        self._notices: list[str] = []
        self._doubles = 0
        self._first_double = ""

    def add(self, entry: Entry) -> None:
        """Take in one resource."""
        self._kinds[entry.kind] += 1
        if entry.kind in resources.OLD_KINDS:
            self.version = self.version or (resources.OLD_KINDS[entry.kind], f"it has a {entry.kind}")
        if not entry.kind:
            self.troubles.append(Trouble(entry.place, "not_fhir", "an entry names no resourceType and is left out"))
        if entry.kind not in resources.KINDS:
            return
        try:
            resource = _DECODERS[entry.kind].decode(entry.resource)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            message = f"a {entry.kind} cannot be read and is left out: {plain_message(error)}"
            self.troubles.append(Trouble(entry.place, "bad_resource", message))
            return
        self._keep(entry, resource)

    def _keep(self, entry: Entry, resource: resources.Resource) -> None:
        kind, full_url = entry.kind, entry.full_url or ""
        if resource.id is None and full_url:
            resource = replace(resource, id=full_url.replace(":", "/").rpartition("/")[2])
        if self.version is None and (found := resources.other_version(kind, resource)) is not None:
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
        patients = {key: each for key, each in self._resources.items() if isinstance(each, resources.Patient)}
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

    def _by_patient(self, patients: dict[str, resources.Patient]) -> dict[str, list[resources.Resource]]:
        """What points to each patient; what points to nobody is noticed."""
        belongings: dict[str, list[resources.Resource]] = defaultdict(list)
        only = next(iter(patients)) if len(patients) == 1 else None
        lost: list[str] = []
        nameless = 0
        for key, resource in self._resources.items():
            if isinstance(resource, resources.Patient | resources.Medication):
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

    def _pointed_to(self, reference: resources.Reference) -> str | None:
        """The name of the resource that a reference means."""
        text = reference.reference or ""
        if text in self._places:
            return self._places[text]
        parts = text.partition("/_history/")[0].split("/")
        return self._places.get("/".join(parts[-2:]))

    def _record(self, patient: resources.Patient, belongings: list[resources.Resource]) -> PatientRecord:
        medications = [self._with_medication(each) for each in belongings if isinstance(each, resources.MedicationUse)]
        # The latest day of anything dated.
        dated = (
            resources.Condition
            | resources.MedicationUse
            | resources.Observation
            | resources.OtherEntry
            | resources.Procedure
        )
        texts = {each.date for each in belongings if isinstance(each, dated)}
        days = {text[:10] for text in texts if text}
        return PatientRecord(
            patient_id=patient.id or self.name,
            source=self.name,
            patient=patient,
            conditions=tuple(each for each in belongings if isinstance(each, resources.Condition)),
            medications=tuple(medications),
            observations=tuple(each for each in belongings if isinstance(each, resources.Observation)),
            procedures=tuple(each for each in belongings if isinstance(each, resources.Procedure)),
            last_day=max((day for day in map(resources.day_of, days) if day), default=None),
        )

    def _with_medication(self, use: resources.MedicationUse) -> resources.MedicationUse:
        reasons = [self._pointed_to(each) for each in use.reason_reference or ()]
        concept = use.medication_codeable_concept
        if concept is None and use.medication_reference is not None:
            medication = self._contained(use) or self._resources.get(self._pointed_to(use.medication_reference) or "")
            concept = medication.concept if isinstance(medication, resources.Medication) else None
        return replace(
            use,
            medication_codeable_concept=concept,
            reason_reference=tuple(resources.Reference(each) for each in reasons if each),
        )

    @staticmethod
    def _contained(use: resources.MedicationUse) -> resources.Medication | None:
        """The medication that stands inside the request and is pointed to by ``#id``."""
        pointer = use.medication_reference.reference if use.medication_reference else None
        for resource in use.contained or () if pointer and pointer.startswith("#") else ():
            try:
                inside = _MEDICATION.decode(resource) if kind_of(resource) == "Medication" else None
            except msgspec.DecodeError:
                continue
            if isinstance(inside, resources.Medication) and f"#{inside.id}" == pointer:
                return inside
        return None


def _updated(resource: resources.Resource) -> float:
    moment = resources.moment_of(resource.meta.last_updated if resource.meta else None)
    return moment.timestamp() if moment else 0.0


def read_patients(
    files: Iterable[Path], root: Path, *, check: Check | None = None, when_read: Callable[[], None] = lambda: None
) -> Iterator[PatientRecord | Trouble]:
    """Every patient of some files, in their order, and everything that was wrong or odd.

    A bundle is taken to be complete. Pages of a search, NDJSON and single resources are joined by their references,
    and their patients come last. A patient whose id was there before is left out.

    Args:
        files: JSON or NDJSON, perhaps compressed by gzip.
        root: The folder that messages name the files from.
        check: Says what is wrong with a resource, which is then left out.
        when_read: Called after each file.
    """
    joined = Gathering(root.name or str(root))
    known: dict[str, str] = {}
    for file in files:
        name = file.name if file == root else str(file.relative_to(root))
        for found in read_file(file, name):
            if isinstance(found, Trouble):
                yield found
                continue
            is_whole = isinstance(found, Bundle) and found.is_whole
            gathering = Gathering(found.place) if is_whole else joined
            _fill(gathering, found, check)
            if is_whole:
                yield from _new(gathering, known)
        when_read()
    if joined.is_filled:
        yield from _new(joined, known)


def _fill(gathering: Gathering, found: Bundle | Entry, check: Check | None) -> None:
    if isinstance(found, Bundle):
        gathering.version = gathering.version or found.version
    for entry in found.entries if isinstance(found, Bundle) else [found]:
        message = check(entry) if check is not None else None
        if message is not None:
            gathering.troubles.append(Trouble(entry.place, "invalid", message))
        else:
            gathering.add(entry)


def _new(gathering: Gathering, known: dict[str, str]) -> Iterator[PatientRecord | Trouble]:
    """The patients that were not there before."""
    for found in gathering.records():
        if isinstance(found, Trouble):
            yield found
        elif found.patient_id in known:
            message = f"patient {found.patient_id} was read from {known[found.patient_id]} already; left out"
            yield Trouble(found.source, "duplicate_patient", message)
        else:
            known[found.patient_id] = found.source
            yield found


# Resources held against the definitions of FHIR R4, by a library that knows all of them.

MOST_FAULTS = 3
"""Faults of one resource that are named."""


def validator() -> Callable[[Entry], str | None]:
    """A function that says what is wrong with a resource, or nothing.

    About two hundred times slower than reading it. The definitions are those of R4B, which differ from R4 in few
    types and in none that is read here.
    """
    try:
        from fhir.resources.R4B import get_fhir_model_class
    except ImportError as error:
        raise MissingExtraError("fhir-validate", "to validate FHIR resources") from error

    def fault_of(entry: Entry) -> str | None:
        try:
            model = get_fhir_model_class(entry.kind)
        except ValueError:
            return f"there is no resource type {entry.kind!r} in FHIR R4; left out"
        try:
            model.model_validate_json(bytes(entry.resource))
        except ValueError as error:  # pydantic's, a package that comes with the other
            faults: list[dict[str, Any]] = getattr(error, "errors", list)()
            named = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:MOST_FAULTS]]
            more = f" and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
            return f"a {entry.kind} is no valid FHIR R4 and is left out: {'; '.join(named)}{more}"
        return None

    return fault_of
