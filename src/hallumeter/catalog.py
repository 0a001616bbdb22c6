"""Every metric of every instrument in one tuple: for the command line, the docs and the property tests."""

from __future__ import annotations

from hallumeter.instruments import all_metrics

METRICS_BY_ID = all_metrics()
METRICS = tuple(METRICS_BY_ID.values())
