"""Choose a language model from what a user types; keys come from the environment alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple
from urllib.parse import urlsplit

from hallumeter import plugins
from hallumeter.errors import SettingsError

from .protocol import Provider, ProviderSpec


class Vendor(NamedTuple):
    """Whose models are asked by name."""

    dialect: str
    """The module and the class of the provider that speaks it, imported when a model is asked."""
    address: str
    address_variable: str
    key_variable: str


VENDORS = {
    "openai": Vendor(
        "openai_compatible.OpenAICompatibleProvider", "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"
    ),
    "anthropic": Vendor(
        "anthropic.AnthropicProvider", "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"
    ),
}
"""By what stands before the colon."""
PROVIDER_FORMS = (*(f"{vendor}:MODEL" for vendor in VENDORS), "http://host:port/v1#MODEL")
"""What a user can type; other packages add forms ``name:MODEL`` by the entry point ``hallumeter.providers``."""


def _dialect(vendor: Vendor) -> Callable[..., Provider]:
    module, _, name = vendor.dialect.partition(".")
    made: Callable[..., Provider] = getattr(import_module(f"hallumeter.models.{module}"), name)
    return made


def provider_named(text: str, *, timeout_seconds: float = 60, connections: int = 16) -> Provider:
    """The model that a text names, in one of `PROVIDER_FORMS`.

    Raises:
        SettingsError: There is no such form, or its key is missing from the environment.
        MissingExtraError: A package for it is not installed.
    """
    if text.startswith(("http://", "https://")):
        return _at_address(text, timeout_seconds=timeout_seconds, connections=connections)
    vendor, colon, model = text.partition(":")
    if not colon or not vendor or not model.strip():
        raise _no_such(text)
    if known := VENDORS.get(vendor):
        address = _address_from(known.address_variable, known.address)
        return _dialect(known)(
            _spec(text, model, address=address, usual=known.address),
            address,
            key=_key_from(known.key_variable, text),
            timeout_seconds=timeout_seconds,
            connections=connections,
        )
    make = plugins.found("hallumeter.providers").get(vendor)
    if make is None:
        raise _no_such(text)
    made: Provider = make(model, timeout_seconds=timeout_seconds, connections=connections)
    return made


def provider_spec(text: str) -> ProviderSpec:
    """Which model a text names; no key and no package is needed to know it."""
    if text.startswith(("http://", "https://")):
        return _spec_at_address(text)
    vendor, _, model = text.partition(":")
    known = VENDORS.get(vendor)
    if known is None:
        return ProviderSpec(name=text, model=model)
    address = _address_from(known.address_variable, known.address)
    return _spec(text, model, address=address, usual=known.address)


def _at_address(text: str, *, timeout_seconds: float, connections: int) -> Provider:
    from .openai_compatible import OpenAICompatibleProvider

    spec = _spec_at_address(text)
    key = os.environ.get("HALLUMETER_API_KEY", "").strip()
    address = spec.settings["address"]
    return OpenAICompatibleProvider(spec, address, key=key, timeout_seconds=timeout_seconds, connections=connections)


def _spec_at_address(text: str) -> ProviderSpec:
    address, _, model = text.partition("#")
    _check_address(address, "the address of a language model")
    if not model.strip():
        raise SettingsError(f"{address} names no model; write it after a #, such as {address}#qwen3-4b")
    return ProviderSpec(name=text, model=model, settings={"address": address.rstrip("/")})


def _spec(text: str, model: str, *, address: str, usual: str) -> ProviderSpec:
    vendor = text.partition(":")[0]
    if not model.strip():
        raise SettingsError(f"{text} names no model; write it after the colon, such as {vendor}:MODEL")
    if urlsplit(address).hostname == urlsplit(usual).hostname:
        return ProviderSpec(name=text, model=model, price_key=(vendor, model))
    # Behind another server the same name may be another model, at another price.
    return ProviderSpec(name=text, model=model, settings={"address": address})


def _key_from(variable: str, text: str) -> str:
    key = os.environ.get(variable, "").strip()
    if not key:
        raise SettingsError(f"{text} needs a key; set the environment variable {variable}")
    return key


def _address_from(variable: str, usual: str) -> str:
    address = os.environ.get(variable, "").strip().rstrip("/") or usual
    _check_address(address, f"the environment variable {variable}")
    return address


def _check_address(address: str, what: str) -> None:
    """Refuse addresses that could hold a secret, without repeating them."""
    try:
        parts = urlsplit(address)
        is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise SettingsError(f"{what} is no address; expected one such as http://127.0.0.1:8080/v1") from None
    if parts.username is not None or parts.password is not None:
        raise SettingsError(f"{what} holds a user name or a password; put the key into HALLUMETER_API_KEY instead")
    if parts.query:
        raise SettingsError(f"{what} holds a query after a question mark; give the address without it")
    if not is_whole:
        raise SettingsError(f"{what} is no address; expected one such as http://127.0.0.1:8080/v1")


def _no_such(text: str) -> SettingsError:
    others = sorted(plugins.found("hallumeter.providers"))
    forms = [*PROVIDER_FORMS, *(f"{name}:MODEL" for name in others)]
    return SettingsError(f"no language model is called {text!r}; expected one of {', '.join(forms)}")
