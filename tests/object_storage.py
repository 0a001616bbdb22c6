"""A server of object storage in this process, reached over loopback as any other, and a door that shuts it off."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest


@pytest.fixture(scope="session")
def object_storage() -> Iterator[str]:
    """The address of a running server."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # it tells every request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(object_storage: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new bucket, as an address; keys and endpoint stand in the environment, as users give them."""
    import boto3

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-a-test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-a-test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", object_storage)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    name = f"runs-{uuid.uuid4().hex[:12]}"
    boto3.session.Session().client("s3").create_bucket(Bucket=name)
    return f"s3://{name}"


class StorageDoor:
    """What clients connect to in place of the server.

    Shut, it cuts off whoever is connected and lets nobody in: what clients see of a server that dies. What the server
    had written is there when it is open again, also where its reply was lost.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._target = parts.hostname, parts.port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._port = 0
        self._is_reply_awaited = False
        self._was_reply_lost = asyncio.Event()
        self.lost = 0
        """Replies that never arrived."""
        self.open()
        self.address = f"http://127.0.0.1:{self._port}"

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def open(self) -> None:
        async def work() -> None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
            self._port = self._server.sockets[0].getsockname()[1]

        self._do(work())

    def shut(self, *, with_reply: bool = False) -> None:
        """Shut it at once, or when the server replies to somebody the next time, who does not get the reply."""

        async def work() -> None:
            if with_reply:
                self._was_reply_lost.clear()
                self._is_reply_awaited = True
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._was_reply_lost.wait(), 10)
                self._is_reply_awaited = False
            assert self._server is not None
            self._server.close()
            for writer in list(self._writers):
                writer.transport.abort()

        self._do(work())

    def end(self) -> None:
        self.shut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, to_server = await asyncio.open_connection(*self._target)
        self._writers.add(writer)
        await asyncio.gather(self._carry(reader, to_server), self._carry(behind, writer, is_reply=True))
        self._writers.discard(writer)

    async def _carry(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, is_reply: bool = False
    ) -> None:
        with suppress(OSError):
            while block := await source.read(1 << 16):
                if is_reply and self._is_reply_awaited:
                    self._is_reply_awaited = False
                    self.lost += 1
                    target.transport.abort()
                    self._was_reply_lost.set()
                    break
                target.write(block)
                await target.drain()
        target.close()


@pytest.fixture
def storage_door(bucket: str, object_storage: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[StorageDoor]:
    """A door before the bucket; the address in the environment is that of the door."""
    door = StorageDoor(object_storage)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", door.address)
    yield door
    door.end()
