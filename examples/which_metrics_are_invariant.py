"""
Which metrics are invariant to local exchange of classes?
=========================================================

Each metric is put to random small data sets and to what each law makes of them. "no" means that a
counter-example was found, and the smallest one found is printed below the table; "yes" means that
none was. Metrics of scikit-learn and torchmetrics are tried where the packages are installed.
"""

from collections.abc import Callable
from typing import Any

import lxcim_xp as lx

Metrics = dict[str, Callable[..., Any]]


def by_sign(metric: Callable[..., Any]) -> Callable[..., Any]:
    """Let a metric of predicted classes see the sign of the score."""
    return lambda y_true, y_score, sample_weight=None: metric(
        y_true, y_score > 0, sample_weight=sample_weight
    )


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
        # Thresholded at one half: the sign of the score decides.
        return lambda y_true, y_score: metric(
            torch.as_tensor(y_score).sigmoid(), torch.as_tensor(y_true)
        )

    names = "auroc average_precision accuracy f1_score matthews_corrcoef specificity"
    return {
        f"torchmetrics binary_{name}": on_tensors(getattr(classification, f"binary_{name}"))
        for name in names.split()
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
# What depends on the margins alone passes the first column by construction: accuracy, LxCIM and
# AUGRC (which are one quantity), AUDRC and AURC, and the AUROC of the confidence, which is a part
# of LxCIM. Why the others fail, each in the smallest data set found:

print("\nCounter-examples to local exchange of classes")
for name, audit in audits.items():
    if not audit["lxc"].holds:
        example = lx.describe(audit["lxc"]).partition("\n")[2]
        print(f"{name}\n{example}")

# %%
# The categorical metrics, as functions of the confusion vector. Those that survive a swap of *all*
# classes (I1) are not safe either: an exchange of a part changes them.

names = "accuracy balanced_accuracy mcc f1 precision sensitivity specificity fdr"
categorical = {
    name: lx.audit(getattr(lx.confusion, name), kind="confusion") for name in names.split()
}
print()
print(lx.audit_table(categorical))

# %%
# Losses of probabilities are invariant too, in their own way: they see the confidence itself and
# not its rank, so that a monotone map of the confidence changes them.


def brier(y_true: Any, y_score: Any) -> Any:
    """Return the mean squared error of probabilities."""
    return ((y_true - y_score) ** 2).mean(axis=-1)


found = lx.audit(brier, decision=lx.probability())
print("\nThe Brier score")
print(lx.describe(found["lxc"]))
print(lx.describe(found["confidence_map"]))
