"""What the metrics mean, in exact fractions and O(n^2), without a line of the package's code.

Samples are lists of labels (bool, or the share of the votes for the positive side), scores (float)
and weights (int or Fraction). A value that is not defined is None.
"""

from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import NamedTuple

HALF = Fraction(1, 2)


def heaviside(difference_sign):
    return {1: Fraction(1), 0: HALF, -1: Fraction(0)}[difference_sign]


def compare(a, b):
    return int(a > b) - int(a < b)


def exact(score):
    return score if score in (float("inf"), float("-inf")) else Fraction(score)


def share(label):
    """Return the share of the votes for the positive side."""
    return label if isinstance(label, Fraction) else Fraction(float(label))


class Split(NamedTuple):
    """In place of the margin of a decision on which the votes are split, or whose credit is given.

    Its key may be negative where it is a confidence that is given.
    """

    key: Fraction
    credit: Fraction

    def __abs__(self):
        return self.key


def credit(m):
    return m.credit if isinstance(m, Split) else heaviside(compare(m, 0))


def margin(label, score, threshold=0):
    ahead, label = exact(score) - Fraction(threshold), share(label)
    if label in (0, 1):
        return ahead if label else -ahead
    return Split(abs(ahead), {1: label, 0: HALF, -1: 1 - label}[compare(ahead, 0)])


def margins(labels, scores, threshold=0):
    return [margin(y, s, threshold) for y, s in zip(labels, scores, strict=True)]


def walsh(a, b):
    """Return the share of two decisions: 1 if what the more confident one says is right."""
    if not isinstance(a, Split) and not isinstance(b, Split):
        return heaviside(compare(a, -b))
    surer = heaviside(compare(abs(a), abs(b)))
    return surer * credit(a) + (1 - surer) * credit(b)


def ratio(numerator, denominator):
    return numerator / denominator if denominator else None


def accuracy(m, w):
    return ratio(sum(credit(a) * u for a, u in zip(m, w, strict=True)), sum(w))


def lxcim(m, w):
    """Walsh averages: the share of pairs whose margins have a positive sum."""
    pairs = (
        u * v * walsh(a, b) for a, u in zip(m, w, strict=True) for b, v in zip(m, w, strict=True)
    )
    return ratio(sum(pairs), sum(w) ** 2)


def augrc(m, w):
    value = lxcim(m, w)
    return None if value is None else (1 - value) / 2


def confidence_auroc(m, w):
    right = [credit(a) * u for a, u in zip(m, w, strict=True)]
    wrong = [u - r for r, u in zip(right, w, strict=True)]
    return _mann_whitney([abs(a) for a in m], right, wrong)


def audrc(m, w):
    """Paper, eq. (1); a tied block counts as equal parts, each as right as the block is."""
    present = [(abs(a), credit(a), u) for a, u in zip(m, w, strict=True) if u]
    done = right = area = Fraction(0)
    for level in sorted({g for g, _, _ in present}, reverse=True):
        block = [(c, u) for g, c, u in present if g == level]
        weight, earned = sum(u for _, u in block), sum(c * u for c, u in block)
        for _ in block:
            done += Fraction(weight) / len(block)
            right += Fraction(earned) / len(block)
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
    positive = [u * share(y) for y, u in zip(labels, w, strict=True)]
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
    for y, s, u in zip(labels, scores, w, strict=True):
        chosen, y = heaviside(compare(exact(s), Fraction(threshold))), share(y)
        parts = (y * chosen, (1 - y) * chosen, y * (1 - chosen), (1 - y) * (1 - chosen))
        cells = [cell + part * u for cell, part in zip(cells, parts, strict=True)]
    return cells


def _descent(key, *columns):
    """Yield each key from the highest down, with the sums of the columns over its block."""
    for level in sorted(set(key), reverse=True):
        block = [i for i, k in enumerate(key) if k == level]
        yield (
            level,
            len(block),
            [sum((column[i] for i in block), Fraction(0)) for column in columns],
        )


def _present(m, w):
    kept = [i for i, u in enumerate(w) if u]
    right = [credit(m[i]) * w[i] for i in kept]
    return [abs(m[i]) for i in kept], right, [w[i] for i in kept]


def cumulative_accuracy_curve(m, w):
    """Return the points (rate, cumulative accuracy, confidence), one for each level."""
    points, done, hits, total = [(Fraction(0), Fraction(0), float("inf"))], 0, 0, sum(w)
    for level, _, (right, weight) in _descent(*_present(m, w)):
        done, hits = done + weight, hits + right
        points.append((done / total, hits / total, level))
    return points


def accuracy_rate_curve(m, w):
    """Return the points (rate, accuracy, confidence), one for each equal part of a level."""
    points, done, hits, total = [], Fraction(0), Fraction(0), sum(w)
    for level, parts, (right, weight) in _descent(*_present(m, w)):
        for _ in range(parts):
            done, hits = done + weight / parts, hits + right / parts
            points.append((done / total, hits / done, level))
    return [(Fraction(0), points[0][1], float("inf")), *points]


def roc_curve(labels, scores, w):
    """Return the points (false positive rate, true positive rate, score); None without a class."""
    kept = [i for i, u in enumerate(w) if u]
    positive, negative = _classes([labels[i] for i in kept], [w[i] for i in kept])
    if not sum(positive) or not sum(negative):
        return None
    points, hits, others = [(Fraction(0), Fraction(0), float("inf"))], 0, 0
    for level, _, (more, less) in _descent([scores[i] for i in kept], positive, negative):
        hits, others = hits + more, others + less
        points.append((others / sum(negative), hits / sum(positive), level))
    return points


def symmetric_roc_curve(m, w):
    return roc_curve(*doubled(m), [*w, *w])


def doubled(m):
    """Return labels and scores of the margins and of their exchange."""
    sides = [(a.credit, a.key) if isinstance(a, Split) else (Fraction(1), a) for a in m]
    labels, scores = [y for y, _ in sides], [s for _, s in sides]
    return labels + [1 - y for y in labels], scores + [-s for s in scores]


def lxcim_contributions(m, w):
    """Share out the Walsh pairs by what the larger margin of each decides."""
    return [
        credit(a)
        * u
        * sum(v * 2 * heaviside(compare(abs(a), abs(b))) for b, v in zip(m, w, strict=True))
        / sum(w) ** 2
        for a, u in zip(m, w, strict=True)
    ]


def audrc_contributions(m, w):
    """Return what a right sample adds to AUDRC: the metric is linear in correctness."""
    key, _, weight = _present(m, w)
    shares = []
    for a, u in zip(m, w, strict=True):
        done = arrived = share = Fraction(0)
        for level, parts, (tied,) in _descent(key, weight):
            for _ in range(parts):
                done += Fraction(tied) / parts
                arrived += Fraction(u) / parts if u and level == abs(a) else 0
                share += Fraction(tied) / parts * arrived / done
        shares.append(credit(a) * share / sum(w))
    return shares


def local_accuracy(m, w):
    """Return (rate, slope) of each level, by the min-max formula of isotonic regression."""
    blocks = [sums for _, _, sums in _descent(*_present(m, w))]

    def mean(a, b):
        return sum(r for r, _ in blocks[a : b + 1]) / sum(u for _, u in blocks[a : b + 1])

    n, done, points = len(blocks), Fraction(0), []
    for i, (_, weight) in enumerate(blocks):
        done += weight
        slope = min(max(mean(a, b) for b in range(i, n)) for a in range(i + 1))
        points.append((done / sum(w), slope))
    return points


def coin_rate(m, w):
    """Return where the curve is first highest above half of the rate."""
    points = cumulative_accuracy_curve(m, w)
    best = max(height - rate / 2 for rate, height, _ in points)
    return next(rate for rate, height, _ in points if height - rate / 2 == best)


def curve_at(points, rate):
    """Return the height of a curve at a rate, at the upper end of vertical pieces."""
    reached = [point for point in points if point[0] <= rate]
    (x, y, *_), following = reached[-1], points[len(reached) :]
    if not following:
        return y
    return y + (rate - x) * (following[0][1] - y) / (following[0][0] - x)


def binomial_tail(errors, trials, chance):
    """Return P(X <= errors)."""
    return sum(
        comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(errors + 1)
    )


def last_accurate(m, w, target):
    """Return the confidence of the largest rate with so much accuracy; None if there is none."""
    points = cumulative_accuracy_curve(m, w)[1:]
    return min((g for v, height, g in points if height >= target * v), default=None)


def last_of_joint_risk(m, target):
    n, points = len(m), cumulative_accuracy_curve(m, [Fraction(1)] * len(m))[1:]
    allowed = (g for v, height, g in points if (v - height) * n + 1 <= target * (n + 1))
    return min(allowed, default=None)


def last_vouched_for(m, target, delta):
    """Test every level from the top, from where no error would pass, until one fails."""
    found = None
    for level in sorted({abs(a) for a in m}, reverse=True):
        decided = [a for a in m if abs(a) >= level]
        if binomial_tail(0, len(decided), 1 - target) > delta:
            continue
        if binomial_tail(sum(a <= 0 for a in decided), len(decided), 1 - target) > delta:
            break
        found = level
    return found
