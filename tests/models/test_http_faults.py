"""Every way in which a server can fail, met on a real connection, in both dialects."""

from __future__ import annotations

import socket
import sys
import time
import traceback
from collections.abc import Callable

import pytest

from hallumeter.errors import MissingExtraError, SettingsError
from hallumeter.models.anthropic import AnthropicProvider
from hallumeter.models.http import retry_after_seconds, seconds_until_reset
from hallumeter.models.openai_compatible import OpenAICompatibleProvider
from hallumeter.models.protocol import Message, Provider, ProviderFault, ProviderSpec, Request
from misbehaving_server import MisbehavingServer, _misbehaving_process, misbehaving_server

__all__ = ["_misbehaving_process", "misbehaving_server"]

KEY = "sk-a-secret-that-no-one-may-see"
REQUEST = Request(messages=(Message("system", "Be brief."), Message("user", "hello")))

Make = Callable[..., Provider]


def openai(server: MisbehavingServer, timeout_seconds: float = 0.5) -> Provider:
    spec = ProviderSpec(name="openai:m", model="m")
    return OpenAICompatibleProvider(spec, server.openai, key=KEY, timeout_seconds=timeout_seconds)


def anthropic(server: MisbehavingServer, timeout_seconds: float = 0.5) -> Provider:
    spec = ProviderSpec(name="anthropic:m", model="m")
    return AnthropicProvider(spec, server.root, key=KEY, timeout_seconds=timeout_seconds)


both_dialects = pytest.mark.parametrize("make", [openai, anthropic])


def fault_of(provider: Provider) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        provider.complete(REQUEST)
    return caught.value


@both_dialects
@pytest.mark.parametrize(
    ("behaviour", "code", "is_retryable", "is_fatal"),
    [
        ("request_timeout", "timeout", True, False),
        ("stall", "timeout", True, False),
        ("drip", "timeout", True, False),
        ("conflict", "conflict", True, False),
        ("rate_limited", "rate_limited", True, False),
        ("rate_limited_with_wait", "rate_limited", True, False),
        ("no_quota", "no_quota", False, True),
        ("server_error", "server_error", True, False),
        ("overloaded", "server_error", True, False),
        ("bad_key", "bad_key", False, True),
        ("unknown_model", "unknown_model", False, True),
        ("bad_request", "refused_request", False, False),
        ("filtered_request", "content_filter", False, False),
        ("reset", "connection", True, False),
        ("reset_midway", "truncated_reply", True, False),
        ("cut_off", "truncated_reply", True, False),
        ("truncated", "truncated_reply", True, False),
        ("html", "truncated_reply", True, False),
        ("error_body", "error_reply", False, False),
        ("overloaded_body", "server_error", True, False),
        ("limited_body", "rate_limited", True, False),
        ("no_choices", "empty_reply", False, False),
        ("empty", "empty_reply", False, False),
        ("length", "empty_reply", False, False),
        ("content_filter", "content_filter", False, False),
    ],
)
def test_each_misbehaviour_has_its_code(
    misbehaving_server: MisbehavingServer, make: Make, behaviour: str, code: str, is_retryable: bool, is_fatal: bool
) -> None:
    misbehaving_server.play(otherwise=behaviour, stall_seconds=2)
    fault = fault_of(make(misbehaving_server, 0.5 if code == "timeout" else 30))
    assert (fault.code, fault.is_retryable, fault.is_fatal) == (code, is_retryable, is_fatal)
    assert [call.is_answered for call in misbehaving_server.log()] in ([], [False])  # a stall may still be under way


@both_dialects
def test_no_error_shows_the_key(misbehaving_server: MisbehavingServer, make: Make) -> None:
    provider = make(misbehaving_server)
    assert KEY not in repr(provider)
    for behaviour in ("bad_key", "reset", "truncated", "cut_off", "stall"):
        misbehaving_server.play(otherwise=behaviour, stall_seconds=1)
        fault = fault_of(provider)
        shown = "".join(traceback.format_exception(fault)) + repr(fault) + fault.message
        assert KEY not in shown
        links = (fault.__cause__, fault.__context__)
        assert not any(type(link).__module__.startswith("httpx2") for link in links)  # those hold the headers


def test_a_server_that_repeats_the_key_is_quoted_without_it(misbehaving_server: MisbehavingServer) -> None:
    misbehaving_server.play(otherwise="bad_key")
    assert fault_of(openai(misbehaving_server)).message == "status 401: no such key: Bearer ***"


def test_a_reply_that_drips_ends_at_the_timeout_although_each_byte_comes_in_time(
    misbehaving_server: MisbehavingServer,
) -> None:
    misbehaving_server.play(otherwise="drip")  # some 300 bytes, 50 ms apart
    began = time.monotonic()
    assert fault_of(openai(misbehaving_server)).code == "timeout"
    assert time.monotonic() - began < 2


def test_a_port_where_no_one_listens_is_a_connection_fault() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused at once
        provider = openai(MisbehavingServer(f"http://127.0.0.1:{taken.getsockname()[1]}"))
        fault = fault_of(provider)
    assert (fault.code, fault.is_retryable) == ("connection", True)


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("later", None)],
)
def test_the_wait_that_a_server_asks_for_is_read(
    misbehaving_server: MisbehavingServer, sent: str, seconds: float | None
) -> None:
    misbehaving_server.play(otherwise="rate_limited_with_wait", retry_after=sent)
    assert fault_of(openai(misbehaving_server)).retry_after == seconds


def test_a_date_to_wait_for_is_counted_from_the_date_of_the_reply_and_not_from_our_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    headers = {"date": "Mon, 16 Nov 2026 05:00:00 GMT", "retry-after": "Mon, 16 Nov 2026 05:01:30 GMT"}
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert retry_after_seconds(headers) == 90.0
    assert seconds_until_reset("2026-11-16T05:00:30Z", headers) == 30.0


def test_a_wait_in_milliseconds_wins_because_it_is_finer() -> None:
    assert retry_after_seconds({"retry-after": "2", "retry-after-ms": "1250"}) == 1.25


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1s", 1.0), ("6m0s", 360.0), ("12ms", 0.012), ("1d2h", 93600.0), ("0.5", 0.5), ("1s later", None), ("", None)],
)
def test_durations_are_read_as_openai_writes_them(text: str, seconds: float | None) -> None:
    assert seconds_until_reset(text, {}) == seconds


def test_a_key_with_a_line_break_is_refused_without_being_shown() -> None:
    with pytest.raises(SettingsError) as caught:
        OpenAICompatibleProvider(ProviderSpec(name="a", model="m"), "http://127.0.0.1:1/v1", key="sk-secret\nx: y")
    assert "sk-secret" not in str(caught.value)


def test_without_the_package_for_it_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtraError, match=r"asking a language model .* pip install 'hallumeter\[llm\]'"):
        openai(MisbehavingServer("http://127.0.0.1:1"))


@pytest.mark.parametrize(
    ("variable", "value"),
    [("HTTPS_PROXY", "nonsense://me:s3cret@proxy"), ("SSL_CERT_FILE", "/no/such/file.pem")],
)
def test_an_environment_in_which_nothing_connects_is_named_without_its_secrets(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=variable) as caught:
        openai(MisbehavingServer("https://far.example"))
    assert "s3cret" not in str(caught.value)


def test_an_address_that_is_none_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(SettingsError, match="is no address"):
        openai(MisbehavingServer("http://a\x00b"))


def test_a_proxy_is_not_asked_for_servers_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, misbehaving_server: MisbehavingServer
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # no one listens there
    assert openai(misbehaving_server, 5).complete(REQUEST).completions[0].text == '{"echo":"hello"}'
