"""Resources held against the definitions of FHIR R4, by a library that knows all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hallumeter.errors import MissingExtraError

from .patients import Entry

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
