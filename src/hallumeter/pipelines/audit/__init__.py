"""Audit answers: from raw responses to verdicts on every claim."""

from .commands import audit, audit_files
from .pipeline import AuditOutcome
from .plan import AuditPlan, plan_audit
from .run_place import free_place, is_finished
from .settings import AuditSettings

__all__ = [
    "AuditOutcome",
    "AuditPlan",
    "AuditSettings",
    "audit",
    "audit_files",
    "free_place",
    "is_finished",
    "plan_audit",
]
