"""Language models chosen by what a user types, their prices, and models that follow a script."""

from __future__ import annotations

import dataclasses
import re
import sys
from datetime import UTC, date, datetime
from importlib.metadata import version

import pytest

from hallumeter import plugins
from hallumeter.errors import SettingsError
from hallumeter.models.anthropic import AnthropicProvider
from hallumeter.models.by_name import provider_named, provider_spec
from hallumeter.models.openai_compatible import OpenAICompatibleProvider
from hallumeter.models.prices import Price, parse_price, price_of
from hallumeter.models.protocol import Completion, Message, Provider, ProviderFault, ProviderSpec, Reply, Request
from hallumeter.models.scripted import ScriptedProvider
from misbehaving_server import MisbehavingServer, _misbehaving_process, misbehaving_server

__all__ = ["_misbehaving_process", "misbehaving_server"]

REQUEST = Request(messages=(Message("user", "hello"),))
VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "HALLUMETER_API_KEY")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("name", "variable", "kind"),
    [
        ("openai:gpt-4o-mini", "OPENAI_API_KEY", OpenAICompatibleProvider),
        ("anthropic:claude-sonnet-4-6", "ANTHROPIC_API_KEY", AnthropicProvider),
    ],
)
def test_a_vendor_needs_its_key_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, name: str, variable: str, kind: type
) -> None:
    with pytest.raises(SettingsError, match=f"{name} needs a key; set the environment variable {variable}"):
        provider_named(name)
    monkeypatch.setenv(variable, " sk-some-key\n")
    provider = provider_named(name)
    assert isinstance(provider, kind)
    assert provider.spec == ProviderSpec(
        name=name, model=name.partition(":")[2], price_key=(name.partition(":")[0], name.partition(":")[2])
    )


def test_a_vendor_behind_another_address_has_no_price_and_is_told_apart(
    monkeypatch: pytest.MonkeyPatch, misbehaving_server: MisbehavingServer
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-some-key")
    monkeypatch.setenv("OPENAI_BASE_URL", misbehaving_server.openai + "/")
    provider = provider_named("openai:gpt-4o-mini")
    assert provider.spec.price_key is None
    assert provider.spec.settings == {"address": misbehaving_server.openai}
    assert provider.complete(REQUEST).model == "gpt-4o-mini-2026"


def test_an_address_with_a_model_needs_no_key_and_sends_one_that_is_there(
    monkeypatch: pytest.MonkeyPatch, misbehaving_server: MisbehavingServer
) -> None:
    name = f"{misbehaving_server.openai}#org/model:q4"
    assert provider_named(name).complete(REQUEST).model == "org/model:q4-2026"
    assert "authorization" not in misbehaving_server.seen()[-1].headers
    monkeypatch.setenv("HALLUMETER_API_KEY", "local-key")
    provider_named(name).complete(REQUEST)
    assert misbehaving_server.seen()[-1].headers["authorization"] == "Bearer local-key"


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://me:s3cret@host/v1#m", "holds a user name or a password"),
        ("https://host/v1?key=s3cret#m", "holds a query"),
        ("http://#m", "is no address"),
        ("http://host:99999/v1#m", "is no address"),
        ("http://host/v1", "names no model"),
        ("http://host/v1# ", "names no model"),
    ],
)
def test_an_address_that_could_hold_a_secret_or_no_model_is_refused_without_showing_it(
    address: str, reason: str
) -> None:
    with pytest.raises(SettingsError, match=reason) as caught:
        provider_named(address)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "gpt-4o", "openai:", ":m", "openai: ", "other:m"])
def test_another_name_is_refused_with_the_forms_that_there_are(name: str) -> None:
    with pytest.raises(
        SettingsError, match=r"expected one of openai:MODEL, anthropic:MODEL, http://host:port/v1#MODEL"
    ):
        provider_named(name)


def test_other_packages_add_names_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(model: str, *, timeout_seconds: float, connections: int) -> Provider:
        return ScriptedProvider([f"{model} {timeout_seconds} {connections}"])

    monkeypatch.setattr(plugins, "found", lambda group: {"mine": make} if group == "hallumeter.providers" else {})
    reply = provider_named("mine:x", timeout_seconds=3, connections=2).complete(REQUEST)
    assert reply.completions[0].text == "x 3 2"
    with pytest.raises(SettingsError, match="mine:MODEL"):
        provider_named("other:m")


def test_a_price_in_the_table_is_the_published_one_and_names_the_table_and_its_date() -> None:
    pytest.importorskip("genai_prices", reason="genai-prices is not installed")
    price = price_of(ProviderSpec(name="openai:gpt-4o-mini", model="gpt-4o-mini", price_key=("openai", "gpt-4o-mini")))
    assert price is not None
    # OpenAI's price list: $0.15 in, $0.60 out, $0.075 from the cache, for a million tokens.
    assert (price.input_usd_per_million, price.output_usd_per_million) == (0.15, 0.6)
    assert price.cached_input_usd_per_million == 0.075
    found = re.fullmatch(r"genai-prices \d[\w.]*, checked (\d{4}-\d\d-\d\d)", price.as_of)
    assert found is not None, price.as_of
    # The first table with such comments came out in 2026; none can have been checked after it came out.
    assert date(2026, 1, 1) < date.fromisoformat(found[1]) <= datetime.now(UTC).date()


def test_a_table_is_as_old_as_its_last_check_whatever_it_says_of_the_future() -> None:
    data_snapshot = pytest.importorskip("genai_prices.data_snapshot", reason="genai-prices is not installed")
    spec = ProviderSpec(name="openai:gpt-4o-mini", model="gpt-4o-mini", price_key=("openai", "gpt-4o-mini"))
    [vendor] = [vendor for vendor in data_snapshot.get_snapshot().providers if vendor.id == "openai"]
    [model] = [model for model in vendor.models if model.id == "gpt-4o-mini"]
    dated = "Rates verified on 2025-03-04; checked 2025-02-28. Retires on 2031-01-01."
    for comments, end in ((dated, ", checked 2025-03-04"), ("Retires on 2031-01-01.", ""), (None, "")):
        entry = dataclasses.replace(model, price_comments=comments)
        alone = dataclasses.replace(vendor, models=[entry], price_comments=None)
        data_snapshot.set_custom_snapshot(data_snapshot.DataSnapshot(providers=[alone], from_auto_update=False))
        try:
            price = price_of(spec)
        finally:
            data_snapshot.set_custom_snapshot(None)
        assert price is not None
        assert price.as_of == f"genai-prices {version('genai-prices')}{end}"


def test_a_price_with_tiers_is_that_of_short_prompts() -> None:
    pytest.importorskip("genai_prices", reason="genai-prices is not installed")
    price = price_of(ProviderSpec(name="openai:gpt-5.5", model="gpt-5.5", price_key=("openai", "gpt-5.5")))
    assert price is not None
    assert 0 < price.input_usd_per_million < price.output_usd_per_million


@pytest.mark.parametrize("key", [None, ("openai", "no-such-model-at-all"), ("no-such-vendor", "m")])
def test_an_unknown_price_is_unknown_and_not_zero(key: tuple[str, str] | None) -> None:
    assert price_of(ProviderSpec(name="x", model="m", price_key=key)) is None


def test_without_the_table_every_price_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert price_of(ProviderSpec(name="x", model="m", price_key=("openai", "gpt-4o-mini"))) is None


def test_a_price_is_read_from_two_numbers() -> None:
    assert parse_price("0.15/0.60") == Price(0.15, 0.6)
    assert parse_price("0/0").input_usd_per_million == 0


@pytest.mark.parametrize("text", ["", "1", "1/2/3", "a/b", "-1/2", "nan/1", "inf/1", "1,5/2"])
def test_another_text_is_no_price(text: str) -> None:
    with pytest.raises(SettingsError, match="is no price"):
        parse_price(text)


def test_a_script_is_followed_in_order_and_ends() -> None:
    fault = ProviderFault("rate_limited", "slow down", is_retryable=True, retry_after=2)
    whole = Reply((Completion("two"),))
    provider = ScriptedProvider(["one", whole, fault])
    assert (
        provider.complete(Request(messages=REQUEST.messages, samples=2)).completions == (Completion("one", "stop"),) * 2
    )
    assert provider.complete(REQUEST) is whole
    with pytest.raises(ProviderFault) as caught:
        provider.complete(REQUEST)
    assert caught.value is not fault
    assert (caught.value.code, caught.value.is_retryable, caught.value.retry_after) == ("rate_limited", True, 2)
    with pytest.raises(LookupError, match="has 3 answers and call 4 came"):
        provider.complete(REQUEST)
    assert len(provider.requests) == 4
    assert provider.spec.model == "model"


@pytest.mark.parametrize("text", ["openai:", "anthropic:", "openai: "])
def test_a_vendor_without_a_model_is_refused_before_a_key_is_asked_for(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    for ask in (provider_named, provider_spec):
        with pytest.raises(SettingsError, match=r"names no model|no language model is called"):
            ask(text)
