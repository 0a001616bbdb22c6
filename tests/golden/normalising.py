"""What differs from run to run, or from machine to machine, and says nothing about the product."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from given_files import PACKAGE

# Inputs whose bytes differ although they say the same: events hold times, and other releases of pyarrow and zlib pack
# otherwise. Their hashes stand in manifests and reports, a few words after their names.
_HASH_OF_INPUT = re.compile(r"((?:events\.jsonl|\.parquet|\.gz)\b[^{}]{0,60}?)\b[0-9a-f]{64}\b")
# What a run of them says it is goes by the same hashes.
_IDENTITY = re.compile(r'("identity": ?"|\bidentity\n)[0-9a-f]{12}\b')
# How long an answer took stands in events and traces.
_DURATIONS = re.compile(r'("timing_ms": ?)\{[^{}]*\}|("latency_ms": ?)[\d.e+-]+')
# Digests and sizes of the files of a run, and digests of documents that hold them: some of these files hold times.
_HASH_OF_FILE = re.compile(r'("bytes": ?)\d+|("blake2b": ?")[0-9a-f]{64}|("digests": ?\[)[^\]]*')
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d| ?UTC)?")
_LONG_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d{9,}(?:e[+-]?\d+)?(?![\w.])")
_SCRIPT = re.compile(r"<(script|style)\b([^>]*)>(.*?)</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


def _versions() -> list[str]:
    try:
        return [version("hallumeter")]
    except PackageNotFoundError:
        return []


class Normaliser:
    """For the outputs of one case, from its start on."""

    def __init__(self, folder: Path, addresses: dict[str, str] | None = None) -> None:
        self._start = datetime.now(UTC) - timedelta(minutes=1)
        self._places = {str(folder): "<temp>", str(folder.resolve()): "<temp>", **(addresses or {})}

    def text(self, text: str) -> str:
        """Places, versions, times of now, and digits that differ between processors."""
        for place, name in sorted(self._places.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(place, name)
        # Where the files that ship lie inside the package is nobody's business but its own.
        text = re.sub(rf"{re.escape(str(PACKAGE))}[\w./-]*", "<inside the package>", text)
        for number in _versions():
            escaped = re.escape(number)
            # In signatures, in manifests, after the name of the package, and as the version of tools in SARIF.
            text = re.sub(
                rf'(\bv:|hallumeter[@\s]+|"(?:hallumeter|version)": ?"){escaped}(?!\.?\d)', r"\1<version>", text
            )
        text = _HASH_OF_INPUT.sub(r"\1<hash>", text)
        if ".parquet" in text:
            text = _IDENTITY.sub(r"\1<hash>", text)
        text = _HASH_OF_FILE.sub(r"\1\2\3<hash>", text)
        text = _DURATIONS.sub(r"\1\2<duration>", text)
        text = _TIME.sub(self._time, text)
        return _LONG_NUMBER.sub(_rounded, text)

    def _time(self, found: re.Match[str]) -> str:
        """Times since the case began; those of records are data and stay."""
        written = re.sub(r" ?UTC$|Z$", "+00:00", found.group()).replace(" ", "T")
        try:
            moment = datetime.fromisoformat(written)
        except ValueError:
            return found.group()
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        is_now = self._start <= moment <= datetime.now(UTC) + timedelta(minutes=1)
        return "<time>" if is_now else found.group()

    def digests(self, path: Path, name: str) -> dict[str, str]:
        """Digests of a file that was written, by name; of a page those of its data and of its words."""
        if path.suffix == ".html":
            return {f"{name} {part}": _digest(self.text(text)) for part, text in page_parts(path).items()}
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        return {name: _digest(self.text(text))}


def _rounded(found: re.Match[str]) -> str:
    """Seven digits: sums of floating-point numbers end differently on other processors."""
    return f"{float(found.group()):.7g}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def page_parts(path: Path) -> dict[str, str]:
    """The document of an HTML page: its data, and the words that are read without a script."""
    page = path.read_text(encoding="utf-8")
    parts = {
        named.group(1): _unpacked(body)
        for _, attributes, body in _SCRIPT.findall(page)
        if "application/json" in attributes and (named := re.search(r'id="([^"]+)"', attributes))
    }
    return {**parts, "words": page_words(page)}


def _unpacked(body: str) -> str:
    """Data as text: large data stand in a page compressed, which other releases of zlib do otherwise."""
    data = json.loads(body)
    packed = data.get("gzip") if isinstance(data, dict) else None
    return gzip.decompress(base64.b64decode(packed)).decode() if isinstance(packed, str) else body


def page_words(page: str) -> str:
    """What a page says without a script, a piece of text on each line."""
    pieces = html.unescape(_TAG.sub("\n", _SCRIPT.sub("", page))).splitlines()
    return "\n".join(piece.strip() for piece in pieces if piece.strip())
