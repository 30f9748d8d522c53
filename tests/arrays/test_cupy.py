"""CuPy without a GPU: every call that the package makes must fit CuPy's signatures.

This proves names, numbers of arguments and keywords, not values; where a GPU is present the laws
run on CuPy like on any other library.
"""

import inspect
from importlib import import_module

import numpy as np
import pytest
from samples import METRICS

import lxcim_xp as lx
from lxcim_xp import confusion, curves, soft
from lxcim_xp._arrays import namespaces
from lxcim_xp._samples import checks, samples
from lxcim_xp.soft import plans

CURVES = [
    lx.cumulative_accuracy_curve,
    lx.accuracy_rate_curve,
    lx.roc_curve,
    lx.symmetric_roc_curve,
    lx.contributions,
    lx.local_accuracy,
]


class Recorder:
    """NumPy's namespace, with a list of the calls made to it."""

    def __init__(self, namespace):
        self.namespace = namespace
        self.calls = []

    def __getattr__(self, name):
        found = getattr(self.namespace, name)
        if not callable(found) or isinstance(found, type):
            return found

        def recorded(*args, **kwargs):
            self.calls.append((name, len(args), tuple(sorted(kwargs))))
            return found(*args, **kwargs)

        return recorded


@pytest.mark.library("cupy")
def test_every_call_fits_cupys_signatures(monkeypatch):
    import array_api_compat.cupy as target
    import cupy

    recorder = Recorder(namespaces.namespace())
    # A name of its own sends the package down the road that it takes for CuPy.
    recorder.__name__ = "array_api_compat.cupy"
    recorder.__array_namespace_info__ = namespaces.namespace().__array_namespace_info__
    named_like_a_function = [import_module(f"lxcim_xp.{name}") for name in ("exchange", "sketch")]
    for module in (samples, checks, plans, confusion, curves, soft, *named_like_a_function):
        monkeypatch.setattr(module, "namespace", lambda **arguments: recorder)
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, (2, 300))
    score = rng.integers(-5, 6, (2, 300)).astype("float32")
    options = {"sample_weight": rng.random((2, 300)), "where": score < 4, "nan_policy": "omit"}
    chance = score / 10 + 0.5
    for metric in [*METRICS, lx.bi_auroc, lx.decomposition, *CURVES, confusion.confusion]:
        metric(label, score, **options)
        metric(label.T, score.T, axis=0, threshold=0.5)
        metric(label, chance, decision=lx.probability())
    lx.lxcim(label, chance, decision=lx.logit())
    given = lx.decision_function(np.abs, mirror=lambda score: -score)
    for decision in (given, lx.decision_function(np.abs), lx.asymmetric(0.5, 1, 2)):
        lx.lxcim(label, score, decision=decision)
        lx.exchange(label, score, score > 0, where=score < 4, decision=decision)
        lx.symmetrize(label, score, sample_weight=options["sample_weight"], decision=decision)
    lx.random_exchange(label, score, seed=0, n=3)
    lx.exchange_spread(lx.auroc, label[0], score[0], n=3)
    lx.exchange_confusion(confusion.confusion(label, score))
    lx.class_sensitivity(confusion.f1, confusion.confusion(label, score))
    lx.audrc(label, score, form="continuous")
    lx.contributions(label, score, metric="audrc")
    lx.curve_area(lx.roc_curve(label, score))
    lx.interpolate(lx.accuracy_rate_curve(label, score), [0.5, 1.0])
    lx.accuracy_at(label, score, [0.5, 1.0])
    lx.rate_at(label, score, 0.6)
    lx.threshold_for(label, score, joint_risk=0.2)
    lx.threshold_for(label, score, accuracy=0.6, delta=0.1, where=score < 4)
    for state in (
        lx.sketch(label, score, bins=64, **options),
        lx.sketch(label, score, bins=64, bound=5.0),
        lx.sketch(label, chance, bins=64, decision=lx.probability()),
    ):
        merged = lx.merge(state, state)
        lx.sketch_accuracy(merged)
        lx.lxcim_bounds(merged)
        lx.audrc_bounds(merged)
        lx.audrc_bounds(merged, form="continuous")
    kinds = ("laplace_softplus", "squared_hinge", "exponential", "squared", "logistic")
    for kind in kinds:
        lx.value_and_grad(lx.lxcim_surrogate)(label, score, kind=kind, **options)
    for function in (lx.soft_lxcim, lx.soft_accuracy, lx.soft_auroc, lx.soft_audrc):
        lx.value_and_grad(function)(label, score, scale="std", **options)
        function(label.T, score.T, axis=0, threshold=0.5, temperature=np.asarray([0.1, 0.2]))
    lx.value_and_grad(lx.losses.combined)(label, score, unbiased=True)
    lx.soft_rank(score, sample_weight=options["sample_weight"])
    for name in ("accuracy", "balanced_accuracy", "f1", "fdr", "mcc", "precision", "sensitivity"):
        getattr(confusion, name)(confusion.confusion(label, score))
    assert len({name for name, _, _ in recorder.calls}) > 20
    for name, count, keywords in sorted(set(recorder.calls)):
        function = getattr(target, name)
        if isinstance(function, cupy.ufunc):
            assert (count, keywords) == (function.nin, ()), name
        else:
            inspect.signature(function).bind(*range(count), **dict.fromkeys(keywords))
