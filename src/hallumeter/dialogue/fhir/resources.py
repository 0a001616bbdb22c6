"""The parts of FHIR R4 resources that are read; everything else in them is skipped while decoding.

Fields that only other versions of FHIR have are named too, so that a record of another version can be told. Resources
cannot hold themselves, so the garbage collector need not look at them.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal

from msgspec import Raw, Struct

# Dates as FHIR writes them: a year, a month, a day, or a moment with an offset.

_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")


def day_of(text: str | None) -> date | None:
    """The calendar day as it was written; the first day of a month or year that stands alone.

    None when there is no date, or one that does not exist.

    >>> day_of("2019-05-27T23:58:38+02:00"), day_of("1980"), day_of("2019-02-30")
    (datetime.date(2019, 5, 27), datetime.date(1980, 1, 1), None)
    """
    match = _DATE.match(text or "")
    if match is None:
        return None
    year, month, day = match.groups()
    try:
        return date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None


def moment_of(text: str | None) -> datetime | None:
    """The moment in UTC, for putting entries in order; a date without a time begins at midnight.

    >>> moment_of("2019-05-27T23:30:00-02:00") > moment_of("2019-05-28")
    True
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        day = day_of(text)
        return None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def is_whole_date(text: str) -> bool:
    """Whether a date names its day.

    >>> is_whole_date("1980-05-01"), is_whole_date("1980-05")
    (True, False)
    """
    match = _DATE.match(text)
    return match is not None and match[3] is not None


class Coding(Struct, frozen=True, gc=False):
    """A code of one code system."""

    system: str | None = None
    code: str | None = None
    display: str | None = None


class Concept(Struct, frozen=True, gc=False):
    """Something said by codes, in words, or both."""

    coding: tuple[Coding, ...] | None = None
    text: str | None = None

    def codes(self, system: str) -> tuple[str, ...]:
        """The codes of one code system.

        >>> Concept((Coding("http://loinc.org", "4548-4"), Coding("urn:x", "7"))).codes("http://loinc.org")
        ('4548-4',)
        """
        return tuple(each.code for each in self.coding or () if each.code and each.system == system)

    @property
    def words(self) -> str | None:
        """How the record words it: the text, else the first display."""
        worded = [self.text, *(each.display for each in self.coding or ())]
        return next((text.strip() for text in worded if text and text.strip()), None)

    @property
    def first_code(self) -> str | None:
        """The first code of any system."""
        return next((each.code for each in self.coding or () if each.code), None)


class Reference(Struct, frozen=True, gc=False):
    """Where another resource is."""

    reference: str | None = None


class Period(Struct, frozen=True, gc=False):
    """From when to when."""

    start: str | None = None
    end: str | None = None


class Quantity(Struct, frozen=True, gc=False):
    """A number with its unit."""

    value: Decimal | None = None
    """With the decimals that were written."""
    unit: str | None = None
    code: str | None = None
    """The unit in UCUM."""
    comparator: str | None = None


class Meta(Struct, frozen=True, rename="camel", gc=False):
    """What is said about a resource."""

    last_updated: str | None = None
    profile: tuple[str, ...] | None = None


class Resource(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """What every resource has."""

    id: str | None = None
    meta: Meta | None = None
    subject: Reference | None = None
    patient: Reference | None = None
    """The subject of some types; of conditions in DSTU2 alone."""
    context: Reference | None = None
    """The encounter of conditions, observations, procedures and requests in STU3 alone."""


class Patient(Resource, frozen=True, kw_only=True, rename="camel", gc=False):
    """Whom a record is about."""

    birth_date: str | None = None
    gender: str | None = None
    deceased_boolean: bool | None = None
    deceased_date_time: str | None = None


class Condition(Resource, frozen=True, kw_only=True, rename="camel", gc=False):
    """A diagnosis, a problem or a finding."""

    clinical_status: Concept | str | None = None
    """A plain code in STU3 and DSTU2."""
    verification_status: Concept | str | None = None
    code: Concept | None = None
    onset_date_time: str | None = None
    onset_period: Period | None = None
    recorded_date: str | None = None
    abatement_date_time: str | None = None

    @property
    def date(self) -> str | None:
        """When it began, else when it was recorded."""
        start = self.onset_period.start if self.onset_period else None
        return self.onset_date_time or start or self.recorded_date


class MedicationUse(Resource, frozen=True, kw_only=True, rename="camel", gc=False):
    """A request for a medication, or a statement that it is taken."""

    status: str | None = None
    intent: str | None = None
    do_not_perform: bool | None = None
    medication_codeable_concept: Concept | None = None
    medication_reference: Reference | None = None
    contained: tuple[Raw, ...] | None = None
    authored_on: str | None = None
    effective_date_time: str | None = None
    effective_period: Period | None = None
    date_asserted: str | None = None
    reason_reference: tuple[Reference, ...] | None = None
    medication: Raw = Raw()
    """In R5 alone."""

    @property
    def date(self) -> str | None:
        """When it was ordered or taken."""
        start = self.effective_period.start if self.effective_period else None
        return self.authored_on or self.effective_date_time or start or self.date_asserted


class Ingredient(Struct, frozen=True, rename="camel", gc=False):
    """What a medication is made of."""

    item_codeable_concept: Concept | None = None


class Medication(Resource, frozen=True, kw_only=True, rename="camel", gc=False):
    """A medication that requests point to."""

    code: Concept | None = None
    ingredient: tuple[Ingredient, ...] | None = None

    @property
    def concept(self) -> Concept | None:
        """Its code, else that of its first ingredient."""
        inside = (each.item_codeable_concept for each in self.ingredient or ())
        return self.code or next((each for each in inside if each), None)


class Measured(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A value and what it is the value of."""

    code: Concept | None = None
    value_quantity: Quantity | None = None
    value_integer: int | None = None
    value_string: str | None = None
    value_codeable_concept: Concept | None = None


class Observation(Resource, frozen=True, kw_only=True, rename="camel", gc=False):
    """A measurement or another observation; its components are told apart by their codes."""

    status: str | None = None
    code: Concept | None = None
    effective_date_time: str | None = None
    effective_period: Period | None = None
    effective_instant: str | None = None
    issued: str | None = None
    value_quantity: Quantity | None = None
    value_integer: int | None = None
    value_string: str | None = None
    value_codeable_concept: Concept | None = None
    component: tuple[Measured, ...] | None = None

    @property
    def date(self) -> str | None:
        """When it was observed, else when it was made known."""
        period = self.effective_period or Period()
        return self.effective_date_time or self.effective_instant or period.end or period.start or self.issued

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The observation's own value, then its components."""
        own = Measured(
            code=self.code,
            value_quantity=self.value_quantity,
            value_integer=self.value_integer,
            value_string=self.value_string,
            value_codeable_concept=self.value_codeable_concept,
        )
        return (own, *(self.component or ()))


class Procedure(Resource, frozen=True, kw_only=True, rename="camel", gc=False):
    """Something that was done to a patient."""

    status: str | None = None
    code: Concept | None = None
    performed_date_time: str | None = None
    performed_period: Period | None = None
    not_done: bool | None = None
    """In STU3 alone."""
    occurrence_date_time: str | None = None
    """In R5 alone."""
    occurrence_period: Period | None = None
    """In R5 alone."""

    @property
    def date(self) -> str | None:
        """When it was done."""
        start = self.performed_period.start if self.performed_period else None
        return self.performed_date_time or start


class OtherEntry(Resource, frozen=True, kw_only=True, rename="camel", gc=False):
    """An entry of a type that only tells how far the record goes."""

    period: Period | None = None
    occurrence_date_time: str | None = None
    effective_date_time: str | None = None
    recorded_date: str | None = None
    actual_period: Period | None = None
    """Of encounters, in R5 alone."""

    @property
    def date(self) -> str | None:
        """When it took place or was recorded."""
        start = self.period.start if self.period else None
        return self.occurrence_date_time or start or self.effective_date_time or self.recorded_date


KINDS: dict[str, type[Resource]] = {
    "Patient": Patient,
    "Condition": Condition,
    "MedicationRequest": MedicationUse,
    "MedicationStatement": MedicationUse,
    "Medication": Medication,
    "Observation": Observation,
    "Procedure": Procedure,
    "AllergyIntolerance": OtherEntry,
    "DiagnosticReport": OtherEntry,
    "Encounter": OtherEntry,
    "Immunization": OtherEntry,
}
"""Which types are read, and as what; other types are skipped."""


# Which version of FHIR a resource is of: fields that R4 does not have, or has in another form, give it away.

DSTU2, STU3, R5 = "DSTU2", "STU3", "R5"
OLD_KINDS = {"MedicationOrder": DSTU2}
"""Types that R4 does not have."""
_PROFILE_VERSION = re.compile(r"hl7\.org/fhir/(1\.0|DSTU2|3\.0|STU3|5\.0|R5)/", re.IGNORECASE)
_VERSION_OF = {"1.0": DSTU2, "DSTU2": DSTU2, "3.0": STU3, "STU3": STU3, "5.0": R5, "R5": R5}


def other_version(kind: str, resource: Resource) -> tuple[str, str] | None:
    """The version that a resource is of, and how that shows; None for R4 and for what could be R4.

    >>> other_version("Condition", Condition(clinical_status="active"))
    ('STU3', 'its clinicalStatus is a plain code')
    """
    if isinstance(resource, Condition):
        found = _of_condition(resource)
    elif isinstance(resource, Procedure):
        found = _of_procedure(resource)
    elif isinstance(resource, MedicationUse) and resource.medication:
        found = R5, "its medication stands in a field of its own"
    elif isinstance(resource, OtherEntry) and resource.actual_period is not None:
        found = R5, "it has an actualPeriod"
    elif resource.context is not None and (isinstance(resource, Observation) or kind == "MedicationRequest"):
        found = STU3, "it has a context"
    else:
        found = None
    return found or profile_version(resource.meta)


def profile_version(meta: Meta | None) -> tuple[str, str] | None:
    """The version that a profile names in its address."""
    for profile in (meta.profile or ()) if meta else ():
        if match := _PROFILE_VERSION.search(profile):
            return _VERSION_OF[match[1].upper()], f"its profile is {profile}"
    return None


def _of_condition(condition: Condition) -> tuple[str, str] | None:
    if condition.patient is not None:
        return DSTU2, "it has a patient instead of a subject"
    if isinstance(condition.clinical_status, str):
        return STU3, "its clinicalStatus is a plain code"
    if isinstance(condition.verification_status, str):
        return STU3, "its verificationStatus is a plain code"
    return (STU3, "it has a context") if condition.context is not None else None


def _of_procedure(procedure: Procedure) -> tuple[str, str] | None:
    if procedure.occurrence_date_time is not None or procedure.occurrence_period is not None:
        return R5, "it has an occurrence instead of a performed date"
    if procedure.not_done is not None:
        return STU3, "it has notDone"
    return (STU3, "it has a context") if procedure.context is not None else None
