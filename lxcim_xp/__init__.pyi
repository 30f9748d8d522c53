"""What the package offers and where it lives: for type checkers, and for ``__init__.py``."""

from lxcim_xp import choices, confusion, losses
from lxcim_xp import comparison as comparison
from lxcim_xp import curves as curves
from lxcim_xp import decision as decision
from lxcim_xp import frames as frames
from lxcim_xp import inference as inference
from lxcim_xp import invariance as invariance
from lxcim_xp import metrics as metrics
from lxcim_xp import plots as plots
from lxcim_xp import polars as polars
from lxcim_xp import report as report
from lxcim_xp import selective as selective
from lxcim_xp import soft as soft
from lxcim_xp import testing as testing
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
    confidence,
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
    audit_method,
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
from lxcim_xp.sketch import (
    Bounds,
    Sketch,
    audrc_bounds,
    lxcim_bounds,
    merge,
    merge_across,
    sketch,
    sketch_accuracy,
)
from lxcim_xp.soft import (
    soft_accuracy,
    soft_audrc,
    soft_auroc,
    soft_lxcim,
    soft_rank,
    value_and_grad,
)

__version__: str

__all__ = [
    "AccuracyAt",
    "AccuracyRateCurve",
    "Bounds",
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
    "Sketch",
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
    "audit_method",
    "audit_table",
    "audrc",
    "audrc_bounds",
    "augrc",
    "aurc",
    "auroc",
    "average_precision",
    "bi_auroc",
    "bootstrap",
    "choices",
    "class_sensitivity",
    "compare",
    "compare_all",
    "confidence",
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
    "lxcim_bounds",
    "lxcim_loss",
    "lxcim_surrogate",
    "merge",
    "merge_across",
    "probability",
    "random_exchange",
    "rate_at",
    "required_samples",
    "roc_curve",
    "significance",
    "sketch",
    "sketch_accuracy",
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
