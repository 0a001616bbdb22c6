"""What a page carries to prove itself: the data that its numbers were printed from, and a digest of the page.

Records are kept by name only: the page shows them from blocks of their own, and a run has them all.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hallumeter.report.document import Document, LabelTally, RecordSection, RecordView, Section, encodable
from hallumeter.report.drawing import Json
from hallumeter.report.sections import ReadingSection

from .payload import packed

PROOF = "proof-data"
"""The name of the block."""
PROOF_VERSION = 1
_BYTES = 32
BLANK = "0" * (2 * _BYTES)
"""Stands in place of the digest while it is computed."""
_META = re.compile(r'(<meta name="hallumeter-digest" content=")([0-9a-f]{64})(">)')
_BLOCK = re.compile(r'<script type="application/json" id="([^"]*)">(.*?)</script>', re.DOTALL)
RECORD_BLOCKS = ("records-data", "readings-data", PROOF)
"""How the names of blocks end that a page cannot be asked for without its run."""
LARGEST = 200_000_000
"""Bytes that a packed block may unpack to."""


class Proof(Struct, frozen=True, kw_only=True):
    """The data behind a page."""

    version: int = PROOF_VERSION
    kind: str
    """``report``, ``comparison`` or ``ranking``."""
    language: str
    digests: tuple[str, ...] = ()
    """Of the documents of a report, with all their records."""
    documents: tuple[Document, ...] = ()
    data: msgspec.Raw = msgspec.Raw(b"null")
    """What another page shows."""


def report_proof(documents: Sequence[Document], fitting: Sequence[Document], language: str) -> Json:
    """The block of a report: digests of whole documents, and the documents as far as they fit, without records."""
    proof = Proof(
        kind="report",
        language=language,
        digests=tuple(map(document_digest, documents)),
        documents=tuple(replace(each, sections=tuple(map(_named_only, each.sections))) for each in fitting),
    )
    return _block(proof)


def data_proof(kind: str, data: object, language: str) -> Json:
    """The block of a page on something else than runs."""
    return _block(Proof(kind=kind, language=language, data=msgspec.Raw(msgspec.json.encode(encodable(data)))))


def _block(proof: Proof) -> Json:
    block: Json = json.loads(_encoded(proof))
    return packed(block)


def document_digest(document: Document) -> str:
    """The BLAKE2b digest of a document as JSON."""
    return hashlib.blake2b(_encoded(document), digest_size=_BYTES).hexdigest()


def _encoded(value: Struct) -> bytes:
    """JSON of a value; one that was made by hand may hold lone surrogates, which no file can carry."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, enc_hook=lambda raw: json.loads(bytes(raw)))
        return json.dumps(plain, ensure_ascii=False).encode(errors="replace")


def _named_only(section: Section) -> Section:
    if isinstance(section, RecordSection):
        return replace(
            section, records=tuple(RecordView(each.record_id, each.picked, LabelTally()) for each in section.records)
        )
    if isinstance(section, ReadingSection):
        bare: dict[str, Any] = {"response": "", "reference": "", "fields": {}, "failures": (), "row": None}
        # The first stretch tells that a page was aligned.
        kept = (replace(each, stretches=each.stretches[:1], **bare) for each in section.readings)
        return replace(section, readings=tuple(kept))
    return section


def sealed(page: str) -> str:
    """The page with the digest of itself, which is computed with zeros in its place."""
    blank = _META.sub(rf"\g<1>{BLANK}\g<3>", page, count=1)
    return _META.sub(rf"\g<1>{page_digest(blank)}\g<3>", blank, count=1)


def page_digest(page: str) -> str:
    """The digest that a page should name."""
    blank = _META.sub(rf"\g<1>{BLANK}\g<3>", page, count=1)
    return hashlib.blake2b(blank.encode(), digest_size=_BYTES).hexdigest()


def named_digest(page: str) -> str | None:
    """The digest that a page names; None when it names none."""
    found = _META.search(page)
    return None if found is None else found[2]


def page_blocks(page: str) -> dict[str, str]:
    """The blocks of data of a page, as they stand there."""
    return {html.unescape(name): text for name, text in _BLOCK.findall(page)}


def page_markup(page: str) -> str:
    """The page without its blocks of data and without its digest."""
    return _META.sub("", _BLOCK.sub("", page), count=1)


def proof_of(page: str) -> Proof | None:
    """What a page carries; None when it carries nothing that can be read.

    A packed block is unpacked up to a limit, whatever it says of its size.
    """
    text = page_blocks(page).get(PROOF)
    try:
        return None if text is None else msgspec.json.decode(block_json(text), type=Proof)
    except (ValueError, TypeError, zlib.error, msgspec.MsgspecError, RecursionError):
        return None


def block_json(text: str) -> bytes:
    """The JSON of a block, packed or not.

    Raises:
        ValueError: It is no block of ours, or unpacks to too much.
    """
    block = json.loads(text)
    return _unpacked(block["gzip"]) if isinstance(block, dict) and "gzip" in block else text.encode()


def shown_records(page: str) -> list[str]:
    """The ids of the records that the blocks of a page hold, in any order."""
    found: list[str] = []
    for name, text in page_blocks(page).items():
        if name.endswith(RECORD_BLOCKS[:-1]):
            block = msgspec.json.decode(block_json(text), type=_Shown)
            found += [each.id for each in (*block.records, *block.readings)]
    return found


class _Named(Struct, frozen=True):
    """A record of which only the name is wanted."""

    id: str = ""


class _Shown(Struct, frozen=True):
    """A block of records, or of readings."""

    records: tuple[_Named, ...] = ()
    readings: tuple[_Named, ...] = ()


def named_records(documents: Sequence[Document]) -> list[str]:
    """The ids of the records that documents name."""
    sections = [section for document in documents for section in document.sections]
    views = [view for section in sections if isinstance(section, RecordSection) for view in section.records]
    readings = [view for section in sections if isinstance(section, ReadingSection) for view in section.readings]
    return [*(each.record_id for each in views), *(each.record_id for each in readings)]


def _unpacked(text: str) -> bytes:
    reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    found = reader.decompress(base64.b64decode(text, validate=True), LARGEST)
    if reader.unconsumed_tail:
        raise ValueError(f"the block unpacks to more than {LARGEST:,} bytes")
    return found
