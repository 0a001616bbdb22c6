"""A server of object storage in this process, reached over loopback as any other."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator

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
