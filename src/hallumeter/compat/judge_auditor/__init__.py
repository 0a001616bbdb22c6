"""The names of judge-auditor: change the import line, keep the rest of the program.

Everything is computed by `hallumeter.metrics` and decided by `hallumeter.policy`. Two conventions of judge-auditor are
kept where hallumeter differs: in MaHR a response without claims counts as clean, and a consensus score with nothing
to count is 0. Every other number that cannot be computed is None.

>>> verdicts = [Verdict(VerdictLabel.SUPPORTED, 0.9, [], "Stated"), Verdict(VerdictLabel.REFUTED, 0.8, [], "Denied")]
>>> HallucinationMetricsCalculator().compute_mihr(verdicts).value
0.5
"""

from .calculator import HallucinationMetricsCalculator
from .claim_matrix import ClaimVerificationMatrix, ClaimVerificationMatrixBuilder
from .false_acceptance import AbstentionResult, FalseAcceptanceCalculator, FalseAcceptanceRateResult
from .results import (
    ConsensusF1Result,
    FleissKappaResult,
    HallucinationProfile,
    MaHRResult,
    MiHRResult,
    ReliabilityLevel,
    UncertaintyResult,
)
from .settings import HallucinationMetricsConfig
from .verdicts import Claim, ClaimType, Verdict, VerdictLabel

__all__ = [
    "AbstentionResult",
    "Claim",
    "ClaimType",
    "ClaimVerificationMatrix",
    "ClaimVerificationMatrixBuilder",
    "ConsensusF1Result",
    "FalseAcceptanceCalculator",
    "FalseAcceptanceRateResult",
    "FleissKappaResult",
    "HallucinationMetricsCalculator",
    "HallucinationMetricsConfig",
    "HallucinationProfile",
    "MaHRResult",
    "MiHRResult",
    "ReliabilityLevel",
    "UncertaintyResult",
    "Verdict",
    "VerdictLabel",
]
