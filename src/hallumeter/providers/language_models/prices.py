"""What tokens cost: from the table of the package genai-prices (extra ``llm``), or as the user says."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from hallumeter.errors import SettingsError

from .protocol import ProviderSpec

_CHECKED = re.compile(r"\b(?:verified|checked|updated|as of)(?: on)? (20\d\d-\d\d-\d\d)\b", re.IGNORECASE)
"""In comments of the table. Days on which prices begin or end may lie ahead, and say nothing of its age."""


class Price(Struct, frozen=True):
    """US dollars for a million tokens."""

    input_usd_per_million: float
    output_usd_per_million: float
    cached_input_usd_per_million: float | None = None
    """None when input from a cache has no price of its own; it is then counted at the full price."""
    as_of: str = "given by the user"
    """How old the price may be: the version of the table, and the newest day on which it says prices were checked."""


def price_of(spec: ProviderSpec) -> Price | None:
    """The price of a model in the table that is installed; None when it is not in there, or there is no table.

    Nothing is fetched. Where long prompts cost more per token, this is the price of short ones.
    """
    if spec.price_key is None:
        return None
    try:
        import genai_prices
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    vendor, model = spec.price_key
    table = get_snapshot()
    try:
        _, found = table.find_provider_model(model, None, vendor, None)
    except LookupError:
        return None
    prices = found.get_prices(datetime.now(UTC))
    paid = [_dollars(getattr(prices, f"{kind}_mtok", None)) for kind in ("input", "output", "cache_read")]
    if paid[0] is None or paid[1] is None:
        return None
    return Price(paid[0], paid[1], paid[2], as_of=f"genai-prices {genai_prices.__version__}{_last_check(table)}")


def parse_price(text: str) -> Price:
    """The price in ``0.15/0.60``: dollars for a million tokens of input and of output.

    >>> parse_price("0.15/0.60").output_usd_per_million
    0.6

    Raises:
        SettingsError: The text is something else.
    """
    try:
        paid = [float(piece) for piece in text.split("/")]
    except ValueError:
        paid = []
    if len(paid) != 2 or not all(math.isfinite(price) and price >= 0 for price in paid):
        raise SettingsError(
            f"{text!r} is no price; expected dollars for a million tokens of input and of output, such as 0.15/0.60"
        )
    return Price(paid[0], paid[1])


def _dollars(price: Any) -> float | None:
    """A price in the table is a number, or one with a lowest tier; None stays None."""
    lowest = getattr(price, "base", price)
    return None if lowest is None else float(lowest)


def _last_check(table: Any) -> str:
    entries = [entry for vendor in table.providers for entry in (vendor, *vendor.models)]
    days = [day for entry in entries for day in _CHECKED.findall(entry.price_comments or "")]
    return f", checked {max(days)}" if days else ""
