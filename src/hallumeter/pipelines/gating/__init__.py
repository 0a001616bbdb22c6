"""Hold a run to the bounds of a policy."""

from .beginning import first_policy
from .machine_text import gate_github, gate_json, gate_junit, gate_sarif
from .pipeline import gate
from .terminal import gate_text

__all__ = ["first_policy", "gate", "gate_github", "gate_json", "gate_junit", "gate_sarif", "gate_text"]
