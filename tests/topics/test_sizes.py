"""Sizes at and around every internal constant, with blocks of ties of every such length."""

import numpy as np
import pytest

import lxcim_xp as lx
from lxcim_xp import inference
from lxcim_xp._arrays import numpy_pieces, primitives
from lxcim_xp._numerics import laplace_sums
from lxcim_xp.inference import exact_coins, null_distributions
from lxcim_xp.soft import losses, pair_means

# Where some form begins or a piece ends.
CONSTANTS = (
    laplace_sums._SHORT,
    inference._EXACT,
    primitives._PIECE,
    pair_means._CHUNK,
    numpy_pieces.FEW,
    numpy_pieces.IN_FORMULAS,
    null_distributions._ENUMERATED,
    exact_coins.MOST_ENUMERATED,
    numpy_pieces.CACHED,
    2 * numpy_pieces.CACHED,
)
LENGTHS = sorted({length + more for length in CONSTANTS for more in (-1, 0, 1)})
BLOCKS = ("first", "middle", "last", "all")


def scores_with_a_block(rng, length, block):
    """Return scores of which so many tie in confidence: the least, the most, or others."""
    rest = {"first": (0, 700), "middle": (300, 400), "last": (700, 0), "all": (0, 0)}[block]
    confidence = np.concatenate(
        [rng.uniform(0.1, 1, rest[0]), np.full(length, 2.0), rng.uniform(3, 4, rest[1])]
    )
    score = confidence * rng.choice([-1, 1], confidence.size)
    if block == "first":
        score[rng.integers(0, length, 5)] = 0.0  # and some undecided
    return rng.permutation(score)


def by_blocks(key, *columns):
    """Return the sums of columns over each block of ties, from the largest key down."""
    _, block = np.unique(-key, return_inverse=True)
    return [np.bincount(block, column) for column in columns]


def expected(label, score, weight):
    """Return metrics by their definitions, from sums over blocks of ties."""
    label, score, weight = (x[weight > 0] for x in (label, score, weight))
    margin = np.where(label == 1, score, -score)
    credit = (margin > 0) + 0.5 * (margin == 0)
    size, tied, right = by_blocks(np.abs(margin), np.ones(len(score)), weight, credit * weight)
    total, above = tied.sum(), np.cumsum(tied) - tied
    lxcim = (right * (2 * (total - above) - tied)).sum() / total**2
    part = np.concatenate([np.arange(1, count + 1) / count for count in size])
    share, done, won = (
        np.repeat(x, size.astype(int)) for x in (tied / size, above, np.cumsum(right) - right)
    )
    reached = done + part * np.repeat(tied, size.astype(int))
    right_there = won + part * np.repeat(right, size.astype(int))
    area = np.divide(right_there, reached, out=np.zeros_like(reached), where=reached > 0)
    positive, everyone = by_blocks(score, label * weight, weight)
    negative = everyone - positive
    hits, others = np.cumsum(positive), np.cumsum(negative)
    precision = np.divide(hits, hits + others, out=np.zeros_like(hits), where=hits + others > 0)
    return {
        lx.lxcim: lxcim,
        lx.augrc: (1 - lxcim) / 2,
        lx.accuracy: right.sum() / total,
        lx.audrc: (share * area).sum() / total,
        lx.auroc: (negative * (hits - positive / 2)).sum() / (hits[-1] * others[-1]),
        lx.average_precision: (positive * precision).sum() / hits[-1],
        lx.ks_statistic: (hits / hits[-1] - others / others[-1]).max(),
    }


@pytest.mark.parametrize("weighted", [False, True], ids=["uniform", "weighted"])
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("length", LENGTHS)
def test_metrics_with_a_block_of_ties_of_any_length(length, block, weighted):
    rng = np.random.default_rng(length)
    score = np.stack([scores_with_a_block(rng, length, block) for _ in range(2)])
    label = rng.integers(0, 2, score.shape)
    weight = rng.integers(0, 4, score.shape).astype(float) if weighted else np.ones(score.shape)
    options = {"sample_weight": weight} if weighted else {}
    wanted = [expected(*row) for row in zip(label, score, weight, strict=True)]
    for metric in wanted[0]:
        values = [row[metric] for row in wanted]
        np.testing.assert_allclose(metric(label, score, **options), values, rtol=1e-12)
        for dtype in ("float64", "float32"):
            one = {name: array[0] for name, array in options.items()}
            found = metric(label[0], score[0].astype(dtype), **one)
            np.testing.assert_allclose(found, values[0], rtol=1e-12 if dtype == "float64" else 1e-6)
    label, score, weight = label[0], score[0], weight[0]
    options = {name: array[0] for name, array in options.items()}
    for curve, metric in (
        (lx.cumulative_accuracy_curve, lx.lxcim),
        (lx.symmetric_roc_curve, lx.lxcim),
        (lx.accuracy_rate_curve, lx.audrc),
        (lx.roc_curve, lx.auroc),
    ):
        area = lx.curve_area(curve(label, score, **options))
        np.testing.assert_allclose(area, wanted[0][metric], rtol=1e-11)
    for name in ("lxcim", "audrc"):
        shares = lx.contributions(label, score, metric=name, **options)
        np.testing.assert_allclose(shares.sum(), wanted[0][getattr(lx, name)], rtol=1e-11)
    for name in ("lxcim", "accuracy", "audrc", "auroc"):
        found = lx.interval(label, score, metric=name, method="wald", **options)
        moved = lx.influence(label, score, metric=name, **options)
        np.testing.assert_allclose(found.estimate, wanted[0][getattr(lx, name)], rtol=1e-11)
        n = np.count_nonzero(weight)
        error = np.sqrt(n / (n - 1) * (moved**2).sum())
        np.testing.assert_allclose(found.standard_error, error, rtol=1e-9)
    whole = lx.accuracy_at(label, score, 1.0, level=None, **options)
    np.testing.assert_allclose(whole.accuracy, wanted[0][lx.accuracy], rtol=1e-12)
    cold = lx.soft_lxcim(label, score, temperature=0, **options)
    np.testing.assert_allclose(cold, wanted[0][lx.lxcim], rtol=1e-11)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("length", [n for n in LENGTHS if n <= 2 * pair_means._CHUNK])
def test_soft_metrics_and_tests_with_a_block_of_ties_of_any_length(length, block):
    rng = np.random.default_rng(length)
    score = scores_with_a_block(rng, length, block)
    order = rng.permutation(score.size)
    label = rng.integers(0, 2, score.size)
    for kind in ("laplace_softplus", "squared_hinge", "logistic"):
        loss = lx.lxcim_surrogate(label, score, kind=kind)
        again = losses.lxcim_surrogate(label[order], score[order], kind=kind)
        np.testing.assert_allclose(loss, again, rtol=1e-12)
    margins = np.where(label == 1, score, -score)
    sums = margins[:, None] + margins
    brute = (np.maximum(-sums, 0) + np.log1p(np.exp(-np.abs(sums)))).mean()
    logistic = lx.lxcim_surrogate(label, score, kind="logistic")
    np.testing.assert_allclose(logistic, brute, rtol=1e-12)
    p_value = lx.significance(label, score).p_value
    np.testing.assert_allclose(p_value, lx.significance(label[order], score[order]).p_value)
