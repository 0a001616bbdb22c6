"""Which version of FHIR a resource is of: fields that R4 does not have, or has in another form, give it away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .resources import Condition, MedicationUse, Observation, OtherEntry, Procedure

if TYPE_CHECKING:
    from .resources import Meta, Resource

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
