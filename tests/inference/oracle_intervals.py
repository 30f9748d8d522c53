"""Intervals by definition: rows for the added observation, sums over clusters in a loop."""

import numpy as np
import pytest

import lxcim_xp as lx

stats = pytest.importorskip("scipy.stats")

ADDED = {"lxcim": 1, "accuracy": 1, "audrc": 2, "auroc": 1, "confidence_auroc": 1}


def sides(metric, label, score):
    """Return the weight shares of the two classes that a metric compares: right and wrong, say."""
    if metric == "auroc":
        first = (label > 0).astype(float)
    else:
        first = (np.sign((2 * label - 1) * score) + 1) / 2
    return first, 1 - first


def by_rows(metric, label, score, weight, share):
    """Return a metric after adding an observation of a share of all weight, as rows of its own.

    Also the influence of the samples, and the variance of a draw from the observation.
    """
    pseudo = weight * share / 2
    if metric == "auroc":
        scores, labels = [score, score, score], [label, 0 * label + 1, 0 * label]
    else:
        margin = (2 * label - 1) * score
        scores, labels = [margin, np.abs(margin), -np.abs(margin)], [0 * label + 1] * 3
    scores, labels = np.concatenate(scores), np.concatenate(labels)
    weights = np.concatenate([weight, pseudo, pseudo])
    options = {"sample_weight": weights, "threshold": 0.0}
    estimate = getattr(lx, metric)(labels, scores, **options)
    moves = lx.influence(labels, scores, metric=metric, **options)
    drawn = moves[weight.size :]
    drawn = (
        drawn**2
        * np.sum(weight * share)
        / np.where(weights[weight.size :] > 0, weights[weight.size :], 1)
    )
    return estimate, moves[: weight.size], drawn.sum()


def audrc(credit, weight, confidence):
    """Return AUDRC for credits between 0 and 1; a block of ties is cut into equal parts."""
    done = right = area = 0.0
    for level in np.unique(confidence[weight > 0])[::-1]:
        tied = (confidence == level) & (weight > 0)
        held, gained = weight[tied].sum(), np.sum((weight * credit)[tied])
        part = np.arange(1, tied.sum() + 1) / tied.sum()
        area += held * np.mean((right + part * gained) / (done + part * held))
        done, right = done + held, right + gained
    return area / done


def audrc_by_differences(label, score, weight, share):
    """Return the same for AUDRC with the observations blended into the samples they lie upon."""
    margin = (2 * label - 1) * score
    confidence, credit = np.abs(margin), (np.sign(margin) + 1) / 2
    total, pseudo = weight.sum(), weight * share

    def value(more, credit_of_more):
        held = weight + pseudo + more
        right = weight * credit + pseudo / 2 + more * credit_of_more
        mean = right / np.where(held > 0, held, 1)
        return audrc(mean, held, confidence)

    step = 1e-6 * total
    each = np.eye(weight.size)

    def slope(place, credit):
        if not weight[place]:
            return 0.0
        return (value(step * each[place], credit) - value(-step * each[place], credit)) / (2 * step)

    places = range(weight.size)
    moves = np.asarray([weight[i] * slope(i, credit[i]) for i in places])
    own = 0.0
    for i in places:
        ends = (0.5, 0.5) if credit[i] == 0.5 else (0.0, 1.0)
        drawn = [(share * total * slope(i, end)) ** 2 for end in ends]
        own += weight[i] / total * np.mean(drawn)
    return value(0, 0), moves, own


def steadied(metric, *arguments):
    """Return estimate, influence and own variance after adding observations."""
    return (audrc_by_differences if metric == "audrc" else lambda *a: by_rows(metric, *a))(
        *arguments
    )


def variance(moves, weight, groups, frequency=False):
    """Return the variance of independent samples, or by clusters."""
    count = weight.sum() if frequency else np.count_nonzero(weight)
    if groups is None:
        times = weight if frequency else np.ones(weight.size)
        each = np.where(weight > 0, moves / np.where(times > 0, times, 1), 0)
        return count / (count - 1) * np.sum(times * each**2)
    return sum(
        moves[groups == g].sum() ** 2 / (1 - weight[groups == g].sum() / weight.sum())
        for g in np.unique(groups[weight > 0])
    )


def effective(parts):
    """Return the number of equal parts that are worth as much."""
    return np.sum(parts) ** 2 / np.sum(parts**2)


def interval(metric, label, score, weight, groups=None, frequency=False, level=0.95):
    """Return the bounds of the default interval."""
    score, weight = np.asarray(score, dtype=float), np.asarray(weight, dtype=float)
    first, second = sides(metric, label, score)
    estimate = getattr(lx, metric)(label, score, sample_weight=weight, threshold=0.0)
    moves = lx.influence(label, score, metric=metric, sample_weight=weight, threshold=0.0)
    number = weight.sum() if frequency else effective(weight)
    squared = variance(moves, weight, groups, frequency)
    classes = [weight * first, weight * second]
    if "auroc" in metric and not all(part.sum() for part in classes):
        return np.nan, np.nan
    if groups is None:
        share, freedom = 1 / number, np.inf
        gathered = classes
        if frequency:  # as many samples of weight one
            gathered = [np.repeat(part, weight.astype(int)) for part in (first, second)]
    else:
        names = np.unique(groups[weight > 0])
        part = np.asarray([weight[groups == g].sum() for g in names]) / weight.sum()
        sums = np.asarray([moves[groups == g].sum() for g in names])
        top = max(number * np.sum(part**2), 1)
        moved = min(np.sum(c) for c in classes) > 0 and not np.allclose(sums, 0, atol=1e-14)
        k = np.sum(sums**2) ** 2 / np.sum(sums**4) if moved else 0
        deff = np.clip(squared / variance(moves, weight, None, frequency), 1, top) if moved else top
        share = deff ** (k / (k + 1)) * top ** (1 / (k + 1)) / number
        a, b, c = np.sum(part**2), np.sum(part**2 / (1 - part)), np.sum(part**4 / (1 - part) ** 2)
        freedom = np.clip(1 / (a + b**2 - c), 1, len(names) - 1)
        freedom = min(freedom, 2 * (k + 1)) if moved else np.inf
        gathered = [np.asarray([of[groups == g].sum() for g in names]) for of in classes]
    if "auroc" in metric:
        freedom = min(freedom, min(effective(part) for part in gathered) + 4)
    after, moves, own = steadied(metric, label, score, weight, ADDED[metric] * share)
    tail = (1 + level) / 2
    quantile = stats.norm.ppf(tail) if freedom == np.inf else stats.t.ppf(tail, freedom)
    errors = np.sqrt([squared, variance(moves, weight, groups, frequency) + own])
    low, high = [], []
    for value, error in zip((estimate, after), errors, strict=True):
        if 0 < value < 1:
            width = quantile * error / (value * (1 - value))
            low.append(1 / (1 + np.exp(-np.log(value / (1 - value)) + width)))
            high.append(1 / (1 + np.exp(-np.log(value / (1 - value)) - width)))
        else:
            low.append(value)
            high.append(value)
    return min(low), max(high)
