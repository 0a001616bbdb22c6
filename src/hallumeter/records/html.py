"""Tables for notebooks: everything that is shown is escaped."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = "") -> str:
    """A table as HTML; None is an empty cell, numbers stand to the right.

    >>> html_table(["a"], [["<b>"], [None], [0.25]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td style="text-align: left">&lt;b&gt;</td></tr>\
<tr><td></td></tr><tr><td style="text-align: right">0.25</td></tr></tbody></table>'
    """
    titled = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table>{titled}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, float):
        return f'<td style="text-align: right">{value:.6g}</td>'
    if isinstance(value, int) and not isinstance(value, bool):
        return f'<td style="text-align: right">{value}</td>'
    return f'<td style="text-align: left">{escape(str(value))}</td>'
