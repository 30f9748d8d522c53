"""What every function of samples returns, in exact fractions and laid out as the package does.

``EXACT`` holds for each name a call of the package and the same values from :mod:`oracle`. Both
give one flat list: curves have a point for each sample and one more, in the order of the package,
so that results compare entry by entry. A value that is not defined is None, one that may be
anything is ANYTHING.
"""

from collections.abc import Callable
from fractions import Fraction
from math import inf, isqrt
from typing import NamedTuple

import numpy as np
import oracle
from samples import BY_MARGIN, BY_SCORE

import lxcim_xp as lx
from lxcim_xp._arrays import namespaces

ANYTHING = object()
RATES = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1))
TARGETS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


class Exact(NamedTuple):
    """Samples in fractions: labels (shares of votes), scores, weights and margins."""

    labels: list
    scores: list
    weights: list
    margins: list
    threshold: float = 0.0

    @property
    def total(self):
        return sum(self.weights)

    @property
    def absent(self):
        return sum(not w for w in self.weights)


def samples(y_true, y_score, sample_weight=None, threshold=0.0):
    """Return arrays of floats, whose values are taken as they are, as exact samples."""
    labels = [Fraction(float(max(y, 0))) for y in y_true]
    weights = np.ones(len(labels)) if sample_weight is None else sample_weight
    return Exact(
        labels,
        [oracle.exact(float(s)) for s in y_score],
        [Fraction(float(w)) for w in weights],
        oracle.margins(labels, [float(s) for s in y_score], float(threshold)),
        float(threshold),
    )


def differentiated(value: Callable, exact: Exact, sample: int) -> Fraction | None:
    """Return the derivative of a value by the weight of a sample that may just be arriving."""
    before = value(exact)
    if before is None:
        return None
    least = min(w for w in exact.weights if w)
    step = least**2 / exact.total / 10**30  # far below what any other weight can feel
    weights = [w + step * (i == sample) for i, w in enumerate(exact.weights)]
    return (value(exact._replace(weights=weights)) - before) / step


def antitonic(blocks):
    """Pool (sum, weight) until the means never increase; return the mean of each block."""
    pools = []
    for total, weight in blocks:
        pools.append([total, weight, 1])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] < pools[-1][0] * pools[-2][1]:
            total, weight, count = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], (total, weight, count), strict=True)]
    return [total / weight for total, weight, count in pools for _ in range(count)]


def _of_margins(function):
    return lambda exact: function(exact.margins, exact.weights) if exact.total else None


def _of_scores(function):
    return lambda exact: function(exact.labels, exact.scores, exact.weights)


VALUES: dict[str, Callable[[Exact], Fraction | None]] = {
    **{m.__name__: _of_margins(getattr(oracle, m.__name__)) for m in BY_MARGIN},
    **{m.__name__: _of_scores(getattr(oracle, m.__name__)) for m in BY_SCORE},
}


def _bi_auroc(exact):
    """Two classes, and a third of the samples that are neither: every third one."""
    labels = [0 if i % 3 == 2 else 1 if y else -1 for i, y in enumerate(exact.labels)]
    return [oracle.bi_auroc(labels, exact.scores, exact.weights)]


def three_classes(y_true, y_score, **options):
    xp = namespaces.namespace(y_score=y_score)
    third = xp.arange(y_true.shape[-1], device=namespaces.device_of(xp, y_score)) % 3 == 2
    side = 2 * xp.astype(y_true > 0, xp.int32) - 1
    # What is neither 0 nor 1 is bad input, and stays it.
    side = xp.where((y_true > 1) | (y_true < -1), 7 * xp.ones_like(side), side)
    return lx.bi_auroc(xp.where(third & (side < 2), xp.zeros_like(side), side), y_score, **options)


def _decomposition(exact):
    lxcim, accuracy, area = (VALUES[k](exact) for k in ("lxcim", "accuracy", "confidence_auroc"))
    if lxcim is None:
        return [None] * 5
    return [lxcim, accuracy, area, lxcim - accuracy, (lxcim - accuracy**2) / 2]


def _blocks(exact, key=None):
    """Yield the level, the number of samples, and right and total weight of each block, down."""
    key = [abs(m) for m in exact.margins] if key is None else key
    right = [oracle.credit(m) * w for m, w in zip(exact.margins, exact.weights, strict=True)]
    kept = [i for i, w in enumerate(exact.weights) if w]
    columns = ([column[i] for i in kept] for column in (right, exact.weights))
    return oracle._descent([key[i] for i in kept], *columns)


def _laid_out(points, sizes, absent):
    """Return the columns of the first point and of each block's as often as it has samples."""
    rows = [points[0]]
    for point, size in zip(points[1:], sizes, strict=True):
        rows += [point] * size
    rows += [rows[-1]] * absent
    return [value for column in zip(*rows, strict=True) for value in column]


def _cumulative(exact):
    if not exact.total:
        return [None] * 3 * (len(exact.weights) + 1)
    sizes = [size for _, size, _ in _blocks(exact)]
    points = oracle.cumulative_accuracy_curve(exact.margins, exact.weights)
    return _laid_out(points, sizes, exact.absent)


def _accuracy_rate(exact):
    if not exact.total:
        return [None] * 3 * (len(exact.weights) + 1)
    points = oracle.accuracy_rate_curve(exact.margins, exact.weights)
    return _laid_out(points, [1] * (len(points) - 1), exact.absent)


def _roc_of(labels, scores, weights):
    """Lay out a ROC curve; without a class, its rate is undefined and the rest is as ever."""
    kept = [i for i, w in enumerate(weights) if w]
    if not kept:
        return [None] * 3 * (len(weights) + 1)
    sides = oracle._classes([labels[i] for i in kept], [weights[i] for i in kept])
    rows, sizes = [(Fraction(0), Fraction(0), inf)], []
    hits = others = Fraction(0)
    for level, size, (more, less) in oracle._descent([scores[i] for i in kept], *sides):
        hits, others = hits + more, others + less
        rows.append((others, hits, level))
        sizes.append(size)
    rates = [
        (oracle.ratio(a, sum(sides[1])), oracle.ratio(b, sum(sides[0])), level)
        for a, b, level in rows
    ]
    return _laid_out(rates, sizes, len(weights) - len(kept))


def _roc(exact):
    return _roc_of(exact.labels, exact.scores, exact.weights)


def _symmetric_roc(exact):
    points = _roc_of(*oracle.doubled(exact.margins), exact.weights * 2)
    return [*points, VALUES["accuracy"](exact)]


def _contributions(function):
    def shares(exact):
        if not exact.total:
            return [None] * len(exact.weights)
        return function(exact.margins, exact.weights)

    return shares


def _influence(metric):
    def influence(exact):
        value = VALUES[metric]
        present = [i for i, w in enumerate(exact.weights) if w]
        if len(present) < len(exact.weights):  # which spares their share of long fractions
            columns = ([column[i] for i in present] for column in exact[:4])
            kept = influence(Exact(*columns, exact.threshold))
            places = dict(zip(present, kept, strict=True))
            absent = None if None in kept else Fraction(0)
            return [places.get(i, absent) for i in range(len(exact.weights))]
        if value(exact) is None:
            return [None] * len(exact.weights)
        return [w * differentiated(value, exact, i) for i, w in enumerate(exact.weights)]

    return influence


def _accuracy_at(exact):
    columns = []
    if not exact.total:
        return [None] * 3 * len(RATES)
    points = oracle.cumulative_accuracy_curve(exact.margins, exact.weights)
    for wanted in RATES:
        rate, height, level = next(point for point in points if point[0] >= wanted)
        columns.append((height / rate, rate, level) if rate else (None, rate, None))
    return [value for column in zip(*columns, strict=True) for value in column]


def _rate_at(exact):
    return [_operating_point(exact, target)[1] for target in TARGETS]


def _threshold_for(exact):
    return [value for target in TARGETS for value in _operating_point(exact, target)]


def _operating_point(exact, target):
    if not exact.total:
        return None, None, None
    level = oracle.last_accurate(exact.margins, exact.weights, target)
    if level is None:
        return None, Fraction(0), None
    points = oracle.cumulative_accuracy_curve(exact.margins, exact.weights)
    rate, height, _ = next(point for point in points[1:] if point[2] == level)
    return level, rate, height / rate


def _local_accuracy(exact):
    """Return rates, slopes and confidences; the slope of an absent sample may be anything."""
    blocks = list(_blocks(exact))
    slopes = antitonic([sums for _, _, sums in blocks])
    rates = [rate for rate, _, _ in oracle.cumulative_accuracy_curve(exact.margins, exact.weights)]
    levels = [inf, *(level for level, _, _ in blocks)]
    rows = zip(rates, [slopes[0], *slopes], levels, strict=True)
    flat = _laid_out(list(rows), [size for _, size, _ in blocks], exact.absent)
    n = len(exact.weights) + 1
    for k in range(exact.absent):
        flat[2 * n - 1 - k] = ANYTHING
    return flat


def _confusion(exact):
    return oracle.confusion(exact.labels, exact.scores, exact.weights, exact.threshold)


def of_cells(cells):
    """Return the metrics of a confusion vector, in the order of ``OF_CELLS``."""
    tp, fp, fn, tn = cells
    sensitivity, specificity = oracle.ratio(tp, tp + fn), oracle.ratio(tn, tn + fp)
    balanced = None if None in (sensitivity, specificity) else (sensitivity + specificity) / 2
    spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    covariance = tp * tn - fp * fn
    squared = oracle.ratio(covariance**2, spread)
    return [
        oracle.ratio(tp + tn, sum(cells)),
        sensitivity,
        specificity,
        oracle.ratio(tp, tp + fp),
        oracle.ratio(fp, tp + fp),
        oracle.ratio(2 * tp, 2 * tp + fp + fn),
        balanced,
        None if squared is None else oracle.compare(covariance, 0) * _root(squared),
    ]


def _root(share):
    """Return the root of a fraction to 30 digits, more than any float has."""
    digits = 10**30
    a, b = share.numerator, share.denominator
    return Fraction(isqrt(a * b * digits**2), b * digits)


OF_CELLS = (
    lx.confusion.accuracy,
    lx.confusion.sensitivity,
    lx.confusion.specificity,
    lx.confusion.precision,
    lx.confusion.fdr,
    lx.confusion.f1,
    lx.confusion.balanced_accuracy,
    lx.confusion.mcc,
)


def flat(result):
    """Return the parts of a result in one array."""
    parts = result if isinstance(result, tuple | list) else [result]
    xp = namespaces.namespace(part=parts[0])
    return xp.concat([xp.reshape(xp.asarray(part), (-1,)) for part in parts])


def _flat(function, keep=slice(None), **more):
    def call(y_true, y_score, **options):
        result = function(y_true, y_score, **more, **options)
        return flat(result[keep] if isinstance(result, tuple) else result)

    return call


def _accuracies_at(y_true, y_score, **options):
    rates = [float(rate) for rate in RATES]
    found = lx.accuracy_at(y_true, y_score, rates, level=None, **options)
    return flat([found.accuracy, found.rate, found.confidence])


def _rates_at(y_true, y_score, **options):
    return flat([lx.rate_at(y_true, y_score, float(target), **options) for target in TARGETS])


def _thresholds_for(y_true, y_score, **options):
    points = (
        lx.threshold_for(y_true, y_score, accuracy=float(target), delta=None, **options)
        for target in TARGETS
    )
    return flat([part for point in points for part in point])


class Pair(NamedTuple):
    """A call of the package and the same in fractions."""

    call: Callable
    exact: Callable[[Exact], list]
    # A choice among levels by comparing sums: only sums without rounding choose the same.
    chooses: bool = False
    # Not defined without any weight, which is an error in NumPy.
    needs_weight: bool = False
    # A sum of weights, as large as they are.
    of_weights: bool = False


EXACT: dict[str, Pair] = (
    {
        name: Pair(_flat(getattr(lx, name)), lambda exact, value=value: [value(exact)])
        for name, value in VALUES.items()
    }
    | {
        "bi_auroc": Pair(_flat(three_classes), _bi_auroc),
        "decomposition": Pair(_flat(lx.decomposition), _decomposition),
        "cumulative_accuracy_curve": Pair(_flat(lx.cumulative_accuracy_curve), _cumulative),
        "accuracy_rate_curve": Pair(_flat(lx.accuracy_rate_curve), _accuracy_rate),
        "roc_curve": Pair(_flat(lx.roc_curve), _roc),
        "symmetric_roc_curve": Pair(_flat(lx.symmetric_roc_curve), _symmetric_roc),
        "contributions": Pair(_flat(lx.contributions), _contributions(oracle.lxcim_contributions)),
        "contributions to audrc": Pair(
            _flat(lx.contributions, metric="audrc"), _contributions(oracle.audrc_contributions)
        ),
        "accuracy_at": Pair(_accuracies_at, _accuracy_at, chooses=True, needs_weight=True),
        "rate_at": Pair(_rates_at, _rate_at, chooses=True, needs_weight=True),
        "threshold_for": Pair(_thresholds_for, _threshold_for, chooses=True, needs_weight=True),
        "local_accuracy": Pair(
            _flat(lx.local_accuracy, slice(3)), _local_accuracy, needs_weight=True
        ),
        "coin_rate": Pair(
            _flat(lx.local_accuracy, slice(3, 4)),
            lambda exact: [oracle.coin_rate(exact.margins, exact.weights)],
            chooses=True,
            needs_weight=True,
        ),
        "confusion": Pair(_flat(lx.confusion.confusion), _confusion, of_weights=True),
    }
    | {
        f"influence on {metric}": Pair(_flat(lx.influence, metric=metric), _influence(metric))
        for metric in ("lxcim", "accuracy", "audrc", "auroc", "confidence_auroc")
    }
)


# What is compiled together.
GROUPS = {
    "metrics": [*VALUES, "bi_auroc", "decomposition", "confusion"],
    "curves": [name for name in EXACT if "curve" in name or "contributions" in name],
    "choices": [name for name, pair in EXACT.items() if pair.chooses],
    "local_accuracy": ["local_accuracy"],
    "influence": [name for name in EXACT if "influence" in name],
}


def _together(names):
    def call(y_true, y_score, **options):
        return flat([EXACT[name].call(y_true, y_score, **options) for name in names])

    return call


TOGETHER = {group: _together(names) for group, names in GROUPS.items()}


def as_floats(values, anything):
    """Return exact values as the nearest floats, with what was found for ANYTHING."""
    return np.asarray(
        [
            found if value is ANYTHING else np.nan if value is None else float(value)
            for value, found in zip(values, anything, strict=True)
        ]
    )
