"""Numbers in, numbers out: how sure a rate is, whether two differ, and how far judges can be trusted.

Nothing here reads a file, a clock or a global random state; the generator is an argument.
"""

from .bootstrap import bootstrap_statistic, cluster_bootstrap_interval, resampled_rates
from .bounds import manski_bounds, mean_bounds
from .calibration import expected_calibration_error
from .concentration import gini
from .equivalence import (
    cohen_h,
    equivalence_p_value,
    minimum_detectable_difference,
    not_above_p_value,
    student_cumulative,
)
from .intervals import (
    Interval,
    clopper_pearson_interval,
    normal_quantile,
    student_quantile,
    wilson_interval,
)
from .labels.allocation import LabelTally, expected_variances, next_stratum
from .labels.correction import (
    Estimate,
    LabelledUnits,
    LabelNeed,
    effective_interval,
    jackknife,
    labels_for_width,
    prediction_powered_rate,
    rogan_gladen_rate,
    sensitivity,
    specificity,
)
from .ranks import (
    FriedmanTest,
    NemenyiTest,
    chi_square_survival,
    critical_difference,
    friedman_test,
    nemenyi_test,
    range_quantile,
    range_survival,
)
from .raters import DawidSkene, JudgeAccuracy, dawid_skene, distinct_patterns, sensitivity_specificity
from .signed_ranks import SignedRankTest, wilcoxon_signed_rank
from .significance import (
    PairedDifference,
    SignFlip,
    benjamini_hochberg,
    holm,
    mcnemar_mid_p,
    paired_bootstrap_difference,
    paired_sign_flip,
    permutation_p_value,
)

__all__ = [
    "DawidSkene",
    "Estimate",
    "FriedmanTest",
    "Interval",
    "JudgeAccuracy",
    "LabelNeed",
    "LabelTally",
    "LabelledUnits",
    "NemenyiTest",
    "PairedDifference",
    "SignFlip",
    "SignedRankTest",
    "benjamini_hochberg",
    "bootstrap_statistic",
    "chi_square_survival",
    "clopper_pearson_interval",
    "cluster_bootstrap_interval",
    "cohen_h",
    "critical_difference",
    "dawid_skene",
    "distinct_patterns",
    "effective_interval",
    "equivalence_p_value",
    "expected_calibration_error",
    "expected_variances",
    "friedman_test",
    "gini",
    "holm",
    "jackknife",
    "labels_for_width",
    "manski_bounds",
    "mcnemar_mid_p",
    "mean_bounds",
    "minimum_detectable_difference",
    "nemenyi_test",
    "next_stratum",
    "normal_quantile",
    "not_above_p_value",
    "paired_bootstrap_difference",
    "paired_sign_flip",
    "permutation_p_value",
    "prediction_powered_rate",
    "range_quantile",
    "range_survival",
    "resampled_rates",
    "rogan_gladen_rate",
    "sensitivity",
    "sensitivity_specificity",
    "specificity",
    "student_cumulative",
    "student_quantile",
    "wilcoxon_signed_rank",
    "wilson_interval",
]
