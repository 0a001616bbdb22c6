"""The parts of FHIR R4 resources that are read; everything else in them is skipped while decoding.

Fields that only other versions of FHIR have are named too, so that a record of another version can be told. Resources
cannot hold themselves, so the garbage collector need not look at them.
"""

from __future__ import annotations

from decimal import Decimal

from msgspec import Raw, Struct


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


DatedResource = Condition | MedicationUse | Observation | OtherEntry | Procedure
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
