"""Hold a run to a policy, from Python."""

from __future__ import annotations

from pathlib import Path

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.claims.measure.commands import read_policy
from hallumeter.claims.profiles import Policy
from hallumeter.records.decisions import GateResult
from hallumeter.run.finished import Run, load

from . import pipeline


def gate(run: Run | str | Path, policy: Policy | str | Path, *, source: str | Path | None = None) -> GateResult:
    """Hold a run to the bounds of a policy: `outcome` is ``passed``, ``broken`` or ``unmeasured``.

    A run may be given by its folder, a policy by its TOML file. `source` is the folder with the files that the run was
    made from, in which the lines of records are looked up.

    Raises:
        InputError: There is no run in the folder.
        SettingsError: The policy cannot be read, or names a metric that does not exist.

    >>> from hallumeter import audit, Bound, Policy
    >>> run = audit([{"response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."}], judge="rules")
    >>> gate(run, Policy("release", bounds=(Bound("mihr", at_most=0.1),))).outcome
    'broken'
    """
    opened = run if isinstance(run, Run) else load(run)
    held_to = policy if isinstance(policy, Policy) else read_policy(Path(policy), METRICS_BY_ID)
    return pipeline.gate(opened, held_to, source=None if source is None else Path(source))
