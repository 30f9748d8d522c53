"""
Which metrics are invariant to local exchange of classes?
=========================================================

Each metric is evaluated on small random data sets before and after they are changed according to
each law. "no" means that a counter-example was found, the smallest of which is printed below the
table; "yes" means that none was. Metrics of scikit-learn and torchmetrics are tried if installed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import lxcim_xp as lx

Metrics = dict[str, Callable[..., Any]]


def by_sign(metric: Callable[..., Any]) -> Callable[..., Any]:
    """Let a metric of predicted classes see the sign of the score; zero counts half for each side.

    Each sample is passed twice. With ``y_score > 0`` alone, an undecided sample would be a decision
    for the negative side, and the metric would depend on which side that is.
    """

    def of_both(y_true: Any, y_score: Any, sample_weight: Any = None) -> Any:
        twice, predicted = np.concatenate([y_true] * 2), np.concatenate([y_score >= 0, y_score > 0])
        if sample_weight is None:
            return metric(twice, predicted)
        return metric(twice, predicted, sample_weight=np.concatenate([sample_weight] * 2))

    return of_both


def ours() -> Metrics:
    """Return the metrics of this package."""
    names = "lxcim accuracy augrc audrc aurc confidence_auroc"
    others = "auroc average_precision ks_statistic auch"
    return {f"lxcim_xp {name}": getattr(lx, name) for name in f"{names} {others}".split()}


def scikit_learn() -> Metrics:
    """Return metrics of scikit-learn."""
    from sklearn import metrics

    found = {
        "roc_auc_score": metrics.roc_auc_score,
        "average_precision_score": metrics.average_precision_score,
    }
    names = "accuracy balanced_accuracy f1 precision recall cohen_kappa jaccard"
    for name in names.split():
        found[f"{name}_score"] = by_sign(getattr(metrics, f"{name}_score"))
    found["matthews_corrcoef"] = by_sign(metrics.matthews_corrcoef)
    return {f"scikit-learn {name}": metric for name, metric in found.items()}


def torchmetrics() -> Metrics:
    """Return metrics of torchmetrics, which take tensors of predictions and targets."""
    import torch
    from torchmetrics.functional import classification

    def on_tensors(metric: Callable[..., Any]) -> Callable[..., Any]:
        return lambda y_true, y_score: metric(
            torch.as_tensor(y_score).sigmoid(), torch.as_tensor(y_true)
        )

    def on_classes(metric: Callable[..., Any]) -> Callable[..., Any]:
        of_both = by_sign(
            lambda y_true, predicted: metric(
                torch.as_tensor(predicted).int(), torch.as_tensor(y_true)
            )
        )
        return lambda y_true, y_score: of_both(y_true, y_score)  # without weights

    ranked = ("auroc", "average_precision")
    decided = ("accuracy", "f1_score", "matthews_corrcoef", "specificity")
    return {
        f"torchmetrics binary_{name}": wrap(getattr(classification, f"binary_{name}"))
        for names, wrap in ((ranked, on_tensors), (decided, on_classes))
        for name in names
    }


audits, missing = {}, []
for collect in (ours, scikit_learn, torchmetrics):
    try:
        metrics = collect()
    except ImportError as error:
        missing.append(f"{collect.__name__} was not tried: {error}")
        continue
    for name, metric in metrics.items():
        audits[name] = lx.audit(metric)

print(lx.audit_table(audits))
print(*missing, sep="\n")

# %%
# Metrics of the margins alone pass the first column by construction: accuracy, LxCIM and AUGRC
# (which are one quantity), AUDRC and AURC, and the AUROC of the confidence, which is a part of
# LxCIM. Why the others fail, each on the smallest data set found:

print("\nCounter-examples to local exchange of classes")
for name, audit in audits.items():
    if not audit["lxc"].holds:
        example = lx.describe(audit["lxc"]).partition("\n")[2]
        print(f"{name}\n{example}")

# %%
# The categorical metrics, as functions of the confusion vector. Even those that survive a swap of
# *all* classes (I1) are not safe: exchanging only some of them changes the metric.

names = "accuracy balanced_accuracy mcc f1 precision sensitivity specificity fdr"
categorical = {
    name: lx.audit(getattr(lx.confusion, name), kind="confusion") for name in names.split()
}
print()
print(lx.audit_table(categorical))

# %%
# Losses on probabilities are invariant too, in their own way: they depend on the confidence itself
# and not on its rank, so a monotone map of the confidence changes them.


def brier(y_true: Any, y_score: Any) -> Any:
    """Return the mean squared error of probabilities."""
    return ((y_true - y_score) ** 2).mean(axis=-1)


found = lx.audit(brier, decision=lx.probability())
print("\nThe Brier score")
print(lx.describe(found["lxc"]))
print(lx.describe(found["confidence_map"]))
