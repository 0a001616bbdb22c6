"""What records belong together: the same patient, page or question is drawn as one."""

from __future__ import annotations

from hallumeter.instruments import instrument_of
from hallumeter.records.manifest import Manifest
from hallumeter.records.response import Response

SHARED_QUESTION = "question_id"
"""The field that says which question several models answered."""
RECORD = "response"
"""The unit of resampling where every record stands alone."""


class RecordGroups:
    """Which records of a run are drawn together."""

    def __init__(self, manifest: Manifest, chosen: str | None) -> None:
        self._is_chosen = chosen is not None
        self.field = _cluster_field(manifest, chosen)
        self._has_questions = False

    @property
    def unit(self) -> str:
        """What is resampled; known once all records were asked for."""
        return "question" if self._has_questions else self.field

    def of(self, response: Response) -> str:
        """What a record is drawn with: of a field without a value, itself."""
        if self.field != RECORD:
            return field_of(response, self.field) or response.record_id
        if self._is_chosen:
            return response.record_id
        self._has_questions |= SHARED_QUESTION in response.fields
        return field_of(response, SHARED_QUESTION)


def field_of(response: Response, name: str) -> str:
    """The value of a field of a record, as text; empty where it has none."""
    value = response.model if name == "model" else response.fields.get(name)
    if value is None and name == SHARED_QUESTION:
        return response.record_id
    return "" if value is None else str(value)


def _cluster_field(manifest: Manifest, chosen: str | None) -> str:
    wanted = chosen or manifest.settings.get("cluster")
    if isinstance(wanted, str) and wanted != RECORD:
        return wanted
    return RECORD if chosen is not None else instrument_of(manifest.instrument).cluster or RECORD
