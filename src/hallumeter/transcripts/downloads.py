"""Images of pages from the web, for those who typed that they may be fetched: one request each, within bounds."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from hallumeter.errors import InputError
from hallumeter.formats.images import image_type
from hallumeter.text.normalize import one_line

from .images import is_on_the_web

SECONDS = 60.0
"""For the whole of an image, and for each silence of a server."""
LARGEST = 64 << 20
"""Bytes of an image; the viewer shows no larger ones."""
_CHUNK = 1 << 16
_ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/tiff": ".tif",
    "image/webp": ".webp",
}
_SHOWN = 120
"""Characters of an address in a message."""


class _Refused(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it would lead to a server that nobody named."""

    def redirect_request(self, *_: object) -> None:
        return None


class ImageDownloads:
    """Fetches images into a folder, each once; what is there already is not asked for again."""

    def __init__(self, folder: Path, *, seconds: float = SECONDS, largest: int = LARGEST) -> None:
        self._folder, self._seconds, self._largest = folder, seconds, largest
        self._ask = urllib.request.build_opener(_Refused).open

    def __call__(self, address: str) -> Path:
        """The file with the image of an address; raises InputError, in one line, when there is none to be had."""
        shown = _shown(address)
        name = hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:32]
        for ending in _ENDINGS.values():
            if (self._folder / f"{name}{ending}").is_file():
                return self._folder / f"{name}{ending}"
        data = self._fetched(address, shown)
        kind = image_type(data)
        if kind not in _ENDINGS:
            raise InputError(f"{shown}: is no image that can be shown")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            place = self._folder / f"{name}{_ENDINGS[kind]}"
            # Written whole or not at all: a broken download must not be taken for the image.
            part = place.with_suffix(".part")
            part.write_bytes(data)
            part.replace(place)
        except OSError as error:
            raise InputError(f"{shown}: cannot be kept in {self._folder} ({error.strerror})") from error
        return place

    def _fetched(self, address: str, shown: str) -> bytes:
        ends = time.monotonic() + self._seconds
        request = urllib.request.Request(address, headers={"Accept": "image/*"})  # noqa: S310 (http and https alone)
        try:
            with self._ask(request, timeout=self._seconds) as answer:
                stated = answer.headers.get_content_type()
                if not stated.startswith("image/"):
                    raise InputError(f"{shown}: the server sent {one_line(stated)[:60]}, not an image")
                return self._read(answer, shown, ends)
        except urllib.error.HTTPError as error:
            with error:
                where = "; redirects are not followed" if 300 <= error.code < 400 else ""
                raise InputError(f"{shown}: the server answered {error.code}{where}") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise InputError(f"{shown}: cannot be fetched ({one_line(str(reason))[:100]})") from error

    def _read(self, answer: http.client.HTTPResponse, shown: str, ends: float) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := answer.read1(_CHUNK):  # as it comes, so that a slow server is noticed
            pieces.append(piece)
            size += len(piece)
            if size > self._largest:
                raise InputError(f"{shown}: is larger than the {self._largest:,} bytes that an image may have")
            if time.monotonic() > ends:
                raise InputError(f"{shown}: took longer than {self._seconds:g} seconds")
        return b"".join(pieces)


def _shown(address: str) -> str:
    """An address for people; raises InputError for one with a password, which must not get into any file."""
    if not is_on_the_web(address):
        raise InputError(f"{one_line(address)[:_SHOWN]}: is no address of an image on the web")
    if "@" in urlsplit(address).netloc:
        raise InputError("an address with a name or password before its server is not fetched; save the image yourself")
    return one_line(address)[:_SHOWN]
