"""Every public function of arrays, in one form: of labels, scores and weights, along an axis.

What a transform does to one of them must be tried on all; see test_transforms.py.
"""

import lxcim_xp as lx
from lxcim_xp import choices, confusion
from lxcim_xp.soft import losses

_OF_SAMPLES = (
    lx.accuracy,
    lx.lxcim,
    lx.augrc,
    lx.audrc,
    lx.aurc,
    lx.auroc,
    lx.bi_auroc,
    lx.average_precision,
    lx.ks_statistic,
    lx.auch,
    lx.confidence_auroc,
    lx.decomposition,
    lx.cumulative_accuracy_curve,
    lx.accuracy_rate_curve,
    lx.roc_curve,
    lx.symmetric_roc_curve,
    lx.contributions,
    lx.influence,
    lx.standard_error,
    lx.interval,
    lx.local_accuracy,
    lx.sketch,
    lx.soft_lxcim,
    lx.soft_accuracy,
    lx.soft_auroc,
    lx.soft_audrc,
    lx.lxcim_loss,
    losses.combined,
    confusion.confusion,
)
_KINDS = ("laplace_softplus", "squared_hinge", "squared", "exponential", "logistic")


def _of_confusion(function):
    return lambda y, s, **options: function(confusion.confusion(y, s, **options))


def _of_curve(function, curve):
    return lambda y, s, **options: function(curve(y, s, **options))


def _of_sketch(function):
    return lambda y, s, **options: function(lx.sketch(y, s, **options))


def _at_last(function):
    """Return a function that has no axis, along the last one."""

    def along(y, s, *, axis=-1, **options):
        assert axis == -1
        return function(y, s, **options)

    return along


FUNCTIONS = {
    **{function.__name__: function for function in _OF_SAMPLES},
    **{
        f"lxcim_surrogate({kind})": lambda y, s, kind=kind, **options: lx.lxcim_surrogate(
            y, s, kind=kind, **options
        )
        for kind in _KINDS
    },
    "audrc(continuous)": lambda y, s, **o: lx.audrc(y, s, form="continuous", **o),
    "contributions(audrc)": lambda y, s, **o: lx.contributions(y, s, metric="audrc", **o),
    "significance": lambda y, s, **o: lx.significance(y, s, **o)[:2],
    "significance(uninformative)": lambda y, s, **o: lx.significance(
        y, s, null="uninformative", **o
    )[:2],
    "accuracy_at": lambda y, s, **o: lx.accuracy_at(y, s, 0.5, level=None, **o),
    "rate_at": lambda y, s, **o: lx.rate_at(y, s, 0.5, **o),
    "threshold_for": lambda y, s, **o: lx.threshold_for(y, s, accuracy=0.6, delta=None, **o),
    "soft_rank": lambda y, s, **o: lx.soft_rank(s, **o),
    "value_and_grad": lx.value_and_grad(lx.soft_lxcim),
    "interpolate": lambda y, s, **o: lx.interpolate(
        lx.cumulative_accuracy_curve(y, s, **o), [0.0, 0.25, 0.7]
    ),
    "interpolate(accuracy_rate)": lambda y, s, **o: lx.interpolate(
        lx.accuracy_rate_curve(y, s, **o), 0.5
    ),
    "curve_area": _of_curve(lx.curve_area, lx.roc_curve),
    "lxcim_bounds": _of_sketch(lx.lxcim_bounds),
    "audrc_bounds": _of_sketch(lx.audrc_bounds),
    "sketch_accuracy": _of_sketch(lx.sketch_accuracy),
    "merge": lambda y, s, **o: lx.merge(lx.sketch(y, s, **o), lx.sketch(y, s, **o)),
    **{
        f"confusion.{name}": _of_confusion(getattr(confusion, name))
        for name in (
            "accuracy",
            "sensitivity",
            "specificity",
            "precision",
            "fdr",
            "f1",
            "mcc",
            "balanced_accuracy",
        )
    },
    # In the other order the score is less by the label.
    "both_orders": lambda y, s, sample_weight=None, **o: choices.both_orders(s, s - y, **o),
    "order_effect": lambda y, s, **o: choices.order_effect(s, s - y, **o),
    "order_curve": lambda y, s, **o: choices.order_curve(s, s - y, **o),
    "order_decomposition": lambda y, s, **o: choices.order_decomposition(y, s, s - y, **o)[:3],
    "exchange_confusion": _of_confusion(lx.exchange_confusion),
    "class_sensitivity": _of_confusion(lambda c: lx.class_sensitivity(confusion.f1, c)),
    "exchange": _at_last(lambda y, s, sample_weight=None, **o: lx.exchange(y, s, **o)),
    "symmetrize": _at_last(lx.symmetrize),
}
# What makes or reads no arrays, or is of lists and Python numbers; merge_across has test_sketch.py.
ELSEWHERE = {
    "absolute",
    "asymmetric",
    "assert_lxc_invariant",
    "audit",
    "audit_method",
    "audit_table",
    "bootstrap",
    "choices",
    "compare",
    "compare_all",
    "confidence",
    "confusion",
    "decision_function",
    "describe",
    "exchange_spread",
    "logit",
    "losses",
    "lxcim_surrogate",
    "merge_across",
    "probability",
    "random_exchange",
    "required_samples",
}
