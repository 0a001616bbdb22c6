"""Texts of one repeated unit, and whether the time that they take grows with their length and not faster."""

from __future__ import annotations

import time
from collections.abc import Callable

UNITS = (
    *(
        "a",
        " ",
        "\n",
        "\t",
        "\r\n",
        ".",
        ",",
        ", ",
        ";",
        "; ",
        ": ",
        "?",
        "? ",
        "-",
        "- ",
        "* ",
        "*",
        "_",
        "=",
        "# ",
        "> ",
    ),
    *("|", "| ", "|-", "\n|a|\n", "\n- a\n", "`", "```", "```\n", '"', "'", "“", "«", "「", "(", "[", "{", "<a ", "\\"),
    *("1", "1 ", "1,", "1,,", "1.", "1-", "1:", "1%", "$1 ", "1 kg ", "1,000 ", "1 234 ", "1 to ", "3rd ", "0"),
    *("one ", "twenty ", "hundred ", "million ", "mille ", "2020-", "1/1/", "12:30 ", "May ", "May 1 ", "Monday "),
    *("A. ", "A.B.", "Mr. ", "Ab ", "Ab: ", "de la ", "not ", "not x ", "ne ", "and ", ", and he is ", ", which is "),
    *(
        "high tower ",
        "I hope this helps ",
        "but ",
        "가",
        "가 ",
        "십",
        "조 ",
        "3천만 ",
        "월요일 ",
        "지 않았다 ",
        "하고 ",
    ),
    *("[1] ", "[1,", "[x,", "[[", '{"a":', "{\n", "1\n", "claim ", "http://", "😀"),
)
_TOO_SHORT_TO_TELL = 0.05
_MOST = 12
"""Four times the text may take so many times as long: less than the 16 of what grows with the square."""
_ATTEMPTS = 3
"""Another process may disturb a measurement; what grows too fast does so every time."""


def check_growth(work: Callable[[str], object], unit: str, *, size: int) -> None:
    """Do the work on a text of this size and on one of four times the size, alone and inside of a sentence."""
    for before, after in (("", ""), ("x is ", " x")):
        factors: list[float] = []
        for attempt in range(_ATTEMPTS):
            small, large = (
                _seconds(work, before + _repeated(unit, size * times - attempt) + after) for times in (1, 4)
            )
            factors.append(large / max(small, _TOO_SHORT_TO_TELL / _MOST))
            if large < _TOO_SHORT_TO_TELL or factors[-1] <= _MOST:
                break
        else:
            raise AssertionError(f"{unit!r}: four times the text takes {factors} times as long")


def _repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _seconds(work: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    work(text)
    return time.process_time() - start
