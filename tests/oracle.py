"""What the metrics mean, in exact fractions and O(n^2), without a line of the package's code.

Samples are lists of labels (bool), scores (float) and weights (int or Fraction). A value that is
not defined is None.
"""

from fractions import Fraction
from itertools import pairwise

HALF = Fraction(1, 2)


def heaviside(difference_sign):
    return {1: Fraction(1), 0: HALF, -1: Fraction(0)}[difference_sign]


def compare(a, b):
    return int(a > b) - int(a < b)


def exact(score):
    return score if score in (float("inf"), float("-inf")) else Fraction(score)


def margins(labels, scores, threshold=0):
    threshold = Fraction(threshold)
    return [
        exact(s) - threshold if y else threshold - exact(s)
        for y, s in zip(labels, scores, strict=True)
    ]


def ratio(numerator, denominator):
    return numerator / denominator if denominator else None


def accuracy(m, w):
    return ratio(sum(heaviside(compare(a, 0)) * u for a, u in zip(m, w, strict=True)), sum(w))


def lxcim(m, w):
    """Walsh averages: the share of pairs whose margins have a positive sum."""
    pairs = (
        u * v * heaviside(compare(a, -b))
        for a, u in zip(m, w, strict=True)
        for b, v in zip(m, w, strict=True)
    )
    return ratio(sum(pairs), sum(w) ** 2)


def augrc(m, w):
    value = lxcim(m, w)
    return None if value is None else (1 - value) / 2


def confidence_auroc(m, w):
    right = [heaviside(compare(a, 0)) * u for a, u in zip(m, w, strict=True)]
    wrong = [u - r for r, u in zip(right, w, strict=True)]
    return _mann_whitney([abs(a) for a in m], right, wrong)


def audrc(m, w):
    """Paper, eq. (1); a tied block counts as equal parts, each as right as the block is."""
    present = [(abs(a), heaviside(compare(a, 0)), u) for a, u in zip(m, w, strict=True) if u]
    done = right = area = Fraction(0)
    for level in sorted({g for g, _, _ in present}, reverse=True):
        block = [(c, u) for g, c, u in present if g == level]
        weight, credit = sum(u for _, u in block), sum(c * u for c, u in block)
        for _ in block:
            done += Fraction(weight) / len(block)
            right += Fraction(credit) / len(block)
            area += Fraction(weight) / len(block) * right / done
    return ratio(area, sum(w))


def aurc(m, w):
    value = audrc(m, w)
    return None if value is None else 1 - value


def _mann_whitney(key, high, low):
    pairs = (
        h * v * heaviside(compare(a, b))
        for a, h in zip(key, high, strict=True)
        for b, v in zip(key, low, strict=True)
    )
    return ratio(sum(pairs), sum(high) * sum(low))


def _classes(labels, w):
    positive = [u if y else Fraction(0) for y, u in zip(labels, w, strict=True)]
    return positive, [u - p for p, u in zip(positive, w, strict=True)]


def auroc(labels, scores, w):
    return _mann_whitney(scores, *_classes(labels, w))


def bi_auroc(labels, scores, w):
    """Labels are -1, 0 and +1."""
    up = auroc([y == 1 for y in labels], scores, w)
    down = auroc([y == -1 for y in labels], [-s for s in scores], w)
    return None if up is None or down is None else (up + down) / 2


def _roc(labels, scores, w):
    """Return the points (false positives, true positives), from none to all."""
    positive, negative = _classes(labels, w)
    points = [(Fraction(0), Fraction(0))]
    for level in sorted(set(scores), reverse=True):
        points.append(
            tuple(
                sum((u for u, s in zip(side, scores, strict=True) if s >= level), Fraction(0))
                for side in (negative, positive)
            )
        )
    return points


def average_precision(labels, scores, w):
    points = _roc(labels, scores, w)
    gained = (
        (hits - before) * hits / (hits + others)
        for (_, before), (others, hits) in pairwise(points)
        if hits > before
    )
    return ratio(sum(gained, Fraction(0)), points[-1][1])


def ks_statistic(labels, scores, w):
    points = _roc(labels, scores, w)
    negative, positive = points[-1]
    if not negative or not positive:
        return None
    return max(hits / positive - others / negative for others, hits in points)


def auch(labels, scores, w):
    """Wrap the hull around the ROC points: from each corner to the steepest next one."""
    points = sorted(set(_roc(labels, scores, w)))
    negative, positive = points[-1]
    if not negative or not positive:
        return None
    area, corner = Fraction(0), points[0]

    def steepness(point):
        run = point[0] - corner[0]
        return (float("inf") if run == 0 else (point[1] - corner[1]) / run, point)

    while corner != points[-1]:
        following = max((p for p in points if p > corner), key=steepness)
        area += (following[0] - corner[0]) * (following[1] + corner[1]) / 2
        corner = following
    return area / (negative * positive)


def confusion(labels, scores, w, threshold=0):
    cells = [Fraction(0)] * 4
    for y, m, u in zip(labels, margins(labels, scores, threshold), w, strict=True):
        right = heaviside(compare(m, 0)) * u
        cells[0 if y else 3] += right
        cells[2 if y else 1] += u - right
    return cells
