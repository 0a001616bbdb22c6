"""Numbers in, numbers out: how sure a rate is, whether two differ, and how far judges can be trusted.

Nothing here reads a file, a clock or a global random state; the generator is an argument.
"""

from .bootstrap import bootstrap_statistic, cluster_bootstrap_interval, resampled_rates
from .bounds import manski_bounds
from .intervals import (
    Interval,
    clopper_pearson_interval,
    normal_quantile,
    student_quantile,
    wilson_interval,
)
from .raters import DawidSkene, JudgeAccuracy, dawid_skene, distinct_patterns, sensitivity_specificity
from .significance import (
    PairedDifference,
    benjamini_hochberg,
    holm,
    mcnemar_mid_p,
    paired_bootstrap_difference,
    permutation_p_value,
)

__all__ = [
    "DawidSkene",
    "Interval",
    "JudgeAccuracy",
    "PairedDifference",
    "benjamini_hochberg",
    "bootstrap_statistic",
    "clopper_pearson_interval",
    "cluster_bootstrap_interval",
    "dawid_skene",
    "distinct_patterns",
    "holm",
    "manski_bounds",
    "mcnemar_mid_p",
    "normal_quantile",
    "paired_bootstrap_difference",
    "permutation_p_value",
    "resampled_rates",
    "sensitivity_specificity",
    "student_quantile",
    "wilson_interval",
]
