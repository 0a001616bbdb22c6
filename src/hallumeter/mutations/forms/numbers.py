"""How a number is written, and how another one is written in the same way."""

from __future__ import annotations

import re

from msgspec import Struct

from hallumeter.text.quantities import Quantity

_DIGITS = re.compile(r"\d+(?:([.,\u00a0\u202f ])\d{3}(?!\d))*(?:[.,]\d+)?")
_GROUPED = re.compile(r"\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?:[.,]\d+)?")
_ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_WORD = re.compile(r"[^\W\d_]+")
_BEFORE_UNIT = frozenset({"per", "pour", "d", "de", "percentage", "square"})
_MOST_DIGITS = 15
"""More digits than this are an identifier rather than a number."""


class NumberCore(Struct, frozen=True):
    """The part of a quantity that is a number, without sign, scale word and unit."""

    start: int
    """Where it stands in the text."""
    end: int
    written: str
    key: str
    """Its value with its scale."""
    digits: int | None = None
    """All of its digits as one whole number; None for a number in letters."""
    decimals: int = 0
    """How many of them stand after the decimal sign."""

    def with_digits(self, digits: int) -> str:
        """Other digits in the same form, with as many decimals and the same separators.

        >>> NumberCore(0, 7, "1,234.5", "", digits=12345, decimals=1).with_digits(98765)
        '9,876.5'
        """
        padded = str(digits).zfill(self.decimals + 1)
        whole, fraction = (padded[: -self.decimals], padded[-self.decimals :]) if self.decimals else (padded, "")
        mark = self.written[-self.decimals - 1] if self.decimals else ""
        grouping = next(
            (sign for sign in self.written[: len(self.written) - self.decimals - 1] if not sign.isdigit()), ""
        )
        if grouping:
            groups = [whole[max(0, last - 3) : last] for last in range(len(whole), 0, -3)]
            whole = grouping.join(reversed(groups))
        return whole + mark + fraction


def number_core(text: str, quantity: Quantity) -> NumberCore | None:
    """The number of a quantity as it is written; the upper end of a range; None when it cannot be rewritten."""
    written = text[quantity.start : quantity.end]
    if quantity.is_word:
        return _word_core(text, quantity)
    matches = list(_DIGITS.finditer(written))
    if not matches or len(matches[-1].group()) > _MOST_DIGITS:
        return None
    match = matches[-1] if quantity.high is not None else matches[0]
    digits = "".join(sign for sign in match.group() if sign.isdigit())
    value = quantity.high if quantity.high is not None else quantity.value
    return NumberCore(
        start=quantity.start + match.start(),
        end=quantity.start + match.end(),
        written=match.group(),
        key=f"{abs(value):g}",
        digits=int(digits),
        decimals=_decimals(match.group(), value=abs(value) / (quantity.scale or 1.0)),
    )


def number_shape(quantity: Quantity) -> str:
    """Numbers of one shape can stand for one another: the same unit, scale, counter and way of writing."""
    unit = quantity.unit.symbol if quantity.unit is not None else ""
    form = "word" if quantity.is_word else "decimal" if quantity.step < quantity.scale else "whole"
    is_range = quantity.high is not None
    return f"{quantity.kind}|{unit}|{quantity.counter}|{quantity.scale:g}|{form}|{is_range}"


def ordinal(value: int) -> str:
    """A number with the ending of an English ordinal.

    >>> ordinal(3), ordinal(12), ordinal(21)
    ('3rd', '12th', '21st')
    """
    return f"{value}{'th' if value % 100 in {11, 12, 13} else _ORDINAL_ENDINGS.get(value % 10, 'th')}"


def _word_core(text: str, quantity: Quantity) -> NumberCore:
    """The words of a number, without a unit or a counter after them."""
    written = text[quantity.start : quantity.end]
    words = _WORD.findall(written)
    unit = quantity.counter or (words[-1] if quantity.unit is not None and len(words) > 1 else "")
    bare = written.removesuffix(unit).rstrip(" -\u00a0")
    while len(_WORD.findall(bare)) > 1 and _WORD.findall(bare)[-1].lower() in _BEFORE_UNIT:
        bare = bare[: bare.rindex(_WORD.findall(bare)[-1])].rstrip(" -'’")
    return NumberCore(quantity.start, quantity.start + len(bare), bare, f"{quantity.value:g}")


def _decimals(written: str, *, value: float) -> int:
    """How many digits stand after the decimal sign, going by the value that the number was read as."""
    mark = max(written.rfind("."), written.rfind(","))
    if mark < 0 or (_GROUPED.fullmatch(written) is not None and value >= 1000):
        has_fraction = re.search(r"\D\d{3}[.,](\d+)$", written) if mark >= 0 else None
        return len(has_fraction.group(1)) if has_fraction is not None and value != int(value) else 0
    return len(written) - mark - 1
