"""Rates corrected for the errors of the judge.

Reports import `rates`; `pipeline` opens runs.
"""

__all__: list[str] = []
