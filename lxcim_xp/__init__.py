"""Evaluate pairwise choices with a metric that does not care which side is called positive.

>>> from lxcim_xp import lxcim
>>> lxcim([1, 0, 1], [3.0, -2.0, -1.0]) * 9
np.float64(8.0)

The functions here are pure and written against the Array API standard: they take and return NumPy,
JAX, PyTorch or CuPy arrays and run under ``jit``, ``vmap`` and ``grad``.
"""

from lxcim_xp import confusion, losses
from lxcim_xp.comparison import (
    Comparison,
    ComparisonTable,
    compare,
    compare_all,
    required_samples,
)
from lxcim_xp.confusion import class_sensitivity, exchange_confusion
from lxcim_xp.curves import (
    AccuracyRateCurve,
    CumulativeAccuracyCurve,
    RocCurve,
    SymmetricRocCurve,
    accuracy_rate_curve,
    contributions,
    cumulative_accuracy_curve,
    curve_area,
    interpolate,
    roc_curve,
    symmetric_roc_curve,
)
from lxcim_xp.decision import (
    Decision,
    absolute,
    asymmetric,
    decision_function,
    logit,
    probability,
)
from lxcim_xp.exchange import (
    Exchanged,
    Spread,
    Symmetrized,
    exchange,
    exchange_spread,
    random_exchange,
    symmetrize,
)
from lxcim_xp.inference import (
    Interval,
    Significance,
    bootstrap,
    influence,
    interval,
    significance,
    standard_error,
)
from lxcim_xp.invariance import (
    CounterExample,
    Finding,
    assert_lxc_invariant,
    audit,
    audit_table,
    describe,
)
from lxcim_xp.losses import lxcim_loss, lxcim_surrogate
from lxcim_xp.metrics import (
    Decomposition,
    accuracy,
    auch,
    audrc,
    augrc,
    aurc,
    auroc,
    average_precision,
    bi_auroc,
    confidence_auroc,
    decomposition,
    ks_statistic,
    lxcim,
)
from lxcim_xp.selective import (
    AccuracyAt,
    LocalAccuracy,
    OperatingPoint,
    accuracy_at,
    local_accuracy,
    rate_at,
    threshold_for,
)
from lxcim_xp.soft import (
    soft_accuracy,
    soft_audrc,
    soft_auroc,
    soft_lxcim,
    soft_rank,
    value_and_grad,
)

__version__ = "0.1.0"

__all__ = [
    "AccuracyAt",
    "AccuracyRateCurve",
    "Comparison",
    "ComparisonTable",
    "CounterExample",
    "CumulativeAccuracyCurve",
    "Decision",
    "Decomposition",
    "Exchanged",
    "Finding",
    "Interval",
    "LocalAccuracy",
    "OperatingPoint",
    "RocCurve",
    "Significance",
    "Spread",
    "SymmetricRocCurve",
    "Symmetrized",
    "absolute",
    "accuracy",
    "accuracy_at",
    "accuracy_rate_curve",
    "assert_lxc_invariant",
    "asymmetric",
    "auch",
    "audit",
    "audit_table",
    "audrc",
    "augrc",
    "aurc",
    "auroc",
    "average_precision",
    "bi_auroc",
    "bootstrap",
    "class_sensitivity",
    "compare",
    "compare_all",
    "confidence_auroc",
    "confusion",
    "contributions",
    "cumulative_accuracy_curve",
    "curve_area",
    "decision_function",
    "decomposition",
    "describe",
    "exchange",
    "exchange_confusion",
    "exchange_spread",
    "influence",
    "interpolate",
    "interval",
    "ks_statistic",
    "local_accuracy",
    "logit",
    "losses",
    "lxcim",
    "lxcim_loss",
    "lxcim_surrogate",
    "probability",
    "random_exchange",
    "rate_at",
    "required_samples",
    "roc_curve",
    "significance",
    "soft_accuracy",
    "soft_audrc",
    "soft_auroc",
    "soft_lxcim",
    "soft_rank",
    "standard_error",
    "symmetric_roc_curve",
    "symmetrize",
    "threshold_for",
    "value_and_grad",
]
