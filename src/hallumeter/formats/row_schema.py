"""A record type made for the keys of one file.

The decoder is built for exactly the keys that a file has and is widened when new keys turn up, so that typed decoding
stays as fast as a hand-written record type and yet no field is lost.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING, cast

import msgspec

from hallumeter.errors import RecordError

from .aliases import named_batch
from .known_fields import ALIASES, KNOWN_FIELDS, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .batch import Column

MOST_TYPED_KEYS = 256
"""A file with more keys is read as mappings: a record type takes longer to build and to fill the more fields it has."""
_UNNAMEABLE = re.compile(r'["\\\x00-\x1f]')
"""What the names of a record type's fields must not contain."""


class RowSchema:
    """A record type that grows with the keys seen in a file."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys: dict[str, None] = {}
        self.is_wide = False
        """Whether some keys have no place in the record type, so that rows are needed as mappings as well."""
        self._build()
        self.widen(keys)

    def widen(self, keys: Iterable[str]) -> None:
        """Add keys, and rebuild the record type if one of them is new to it."""
        added = {key: None for key in keys if key not in self._keys}
        if any(map(_UNNAMEABLE.search, added)) or len(self._keys) + len(added) > MOST_TYPED_KEYS:
            self.is_wide = True
        if self.is_wide:
            added = {key: None for key in added if key in KNOWN_FIELDS or key in ALIASES}
        if added or self.row_type.__struct_config__.forbid_unknown_fields == self.is_wide:
            self._keys.update(added)
            self._build()

    def _build(self) -> None:
        attributes = {key: f"field_{number}" for number, key in enumerate(self._keys)}
        self.row_type = msgspec.defstruct(
            "Row",
            [(attributes[key], type_of(key, self._keys), None) for key in self._keys],
            rename={attribute: key for key, attribute in attributes.items()},
            forbid_unknown_fields=not self.is_wide,
            gc=False,
        )
        self.list_decoder = msgspec.json.Decoder(list[self.row_type])  # type: ignore[name-defined]
        self.getters: dict[str, Callable[[msgspec.Struct], object]] = {
            key: attrgetter(attribute) for key, attribute in attributes.items()
        }
        """How to get the value of each key out of a row."""

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def aliases(self) -> dict[str, str]:
        """The other tools' names among the keys that stand alone for their field, and what they stand for."""
        return {key: ALIASES[key] for key in self._keys if key in ALIASES and ALIASES[key] not in self._keys}

    def typed(self, rows: Sequence[Mapping[str, object]], *, strict: bool = True) -> list[msgspec.Struct]:
        """Mappings as rows of the record type."""
        kind = list[self.row_type]  # type: ignore[name-defined]
        return cast("list[msgspec.Struct]", msgspec.convert(rows, kind, strict=strict))

    def raw_columns(
        self, rows: Sequence[msgspec.Struct], mappings: Sequence[Mapping[str, object]] = ()
    ) -> dict[str, Column]:
        """Turn rows of the record type into columns by the keys of the file.

        The same rows as mappings are needed when the schema is wide.
        """
        columns: dict[str, Column] = {key: list(map(getter, rows)) for key, getter in self.getters.items()}
        if self.is_wide:
            others = dict.fromkeys(key for mapping in mappings for key in mapping if key not in self._keys)
            columns |= {key: [mapping.get(key) for mapping in mappings] for key in others}
        return columns

    def columns(self, rows: Sequence[msgspec.Struct]) -> dict[str, Column]:
        """Turn rows of the record type into columns under hallumeter's own names."""
        batch = named_batch(self.raw_columns(rows), range(1, len(rows) + 1))
        if batch.faults:
            raise RecordError(f"row {batch.faults[0].line}: {batch.faults[0].message}")
        return batch.columns
