"""Clusters and strata: variance, degrees of freedom and the observation that is added."""

import numpy as np
import pytest
from backends import context, convert, to_numpy

import lxcim_xp as lx
from lxcim_xp._arrays.namespaces import NUMPY
from lxcim_xp._numerics import distributions
from lxcim_xp.inference.sampling_design import Design, units_of, variance

stats = pytest.importorskip("scipy.stats")

METRICS = ["lxcim", "accuracy", "audrc", "auroc", "confidence_auroc"]
UNEVEN = np.repeat(np.arange(15), np.linspace(1, 50, 15).round().astype(int))


def correlated(rng, value, groups, correlation, shape=()):
    """Draw normal margins of a known LxCIM whose noise is partly shared in each cluster."""
    mean = stats.norm.ppf(value) / np.sqrt(2)
    shared = rng.normal(0, np.sqrt(correlation), (*shape, groups.max() + 1))[..., groups]
    return mean + shared + rng.normal(0, np.sqrt(1 - correlation), (*shape, groups.size))


def test_near_one_clusters_do_not_make_an_interval_useless():
    margins = correlated(np.random.default_rng(0), 0.99, UNEVEN, 0.1, (400,))
    found = lx.interval(1, margins, groups=UNEVEN)
    covered = (found.low <= 0.99) & (found.high >= 0.99)
    assert 0.95 < covered.mean() <= 1
    assert np.mean(found.high - found.low) < 0.12  # it was 0.42


def test_few_uneven_clusters_are_covered():
    margins = correlated(np.random.default_rng(1), 0.8, UNEVEN, 0.5, (800,))
    found = lx.interval(1, margins, groups=UNEVEN)
    assert 0.93 < np.mean((found.low <= 0.8) & (found.high >= 0.8)) < 0.99


@pytest.mark.parametrize("metric", METRICS)
def test_clusters_of_one_are_independent_samples(metric):
    rng = np.random.default_rng(2)
    label, score = rng.integers(0, 2, 40), rng.normal(0.4, 1, 40).round(1)
    weight = rng.lognormal(0, 1, 40) * (rng.random(40) < 0.8)
    for options in ({}, {"sample_weight": weight}):
        for method in ("logit+", "logit", "wald"):
            options = {**options, "metric": metric, "method": method}
            alone = lx.interval(label, score, **options)
            found = lx.interval(label, score, groups=rng.permutation(40), **options)
            np.testing.assert_allclose(found, alone, rtol=1e-9)


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("design", ["groups", "strata"])
def test_large_numbers_name_clusters_as_well_as_small_ones(runner, design):
    rng = np.random.default_rng(7)
    score, codes = rng.normal(1, 1, 60), np.repeat(np.arange(30), 2)
    expected = lx.standard_error(1, score, **{design: codes})
    large = 2**30 + codes  # in float32 all of them are one
    with context(runner.backend):
        label, score, large = (
            convert(runner.backend, array)
            for array in (np.ones(60, dtype=int), score.astype(runner.backend.dtype), large)
        )
        found = to_numpy(lx.standard_error(label, score, **{design: large}))
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_equal_clusters_have_one_degree_of_freedom_less_than_their_number():
    rng = np.random.default_rng(3)
    for sizes, expected in (([5] * 8, 7), ([40, 5, 5, 5, 5], None)):
        groups = np.repeat(np.arange(len(sizes)), sizes).astype(float)
        weight = np.ones(groups.size)
        found = variance(NUMPY, rng.normal(0, 1, groups.size), weight, Design(groups, None, False))
        part = np.asarray(sizes) / sum(sizes)
        # The definition: Satterthwaite's approximation for the mean of independent samples.
        hat = np.repeat(np.eye(len(sizes)), sizes, axis=0)
        residual = np.eye(groups.size) - 1 / groups.size
        rows = (hat / np.sqrt(1 - part)).T @ residual / groups.size
        values = np.linalg.eigvalsh(rows @ rows.T)
        satterthwaite = values.sum() ** 2 / np.sum(values**2)
        np.testing.assert_allclose(found.degrees_of_freedom, satterthwaite, rtol=1e-9)
        if expected is not None:
            np.testing.assert_allclose(found.degrees_of_freedom, expected, rtol=1e-9)
        else:
            assert found.degrees_of_freedom < 2.5


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("exponent", [3, 5, 7, 9, 12, 14])
def test_one_cluster_with_almost_all_weight_is_hardly_more_than_one(runner, exponent):
    dtype = runner.backend.dtype
    margins = np.asarray([1.0, -2.0, 3.0, 4.0, -0.5, 2.5])
    weight, groups = 10.0 ** np.asarray([exponent, 0, 0, exponent, 0, 0]), [0, 1, 1, 0, 2, 3]
    with context(runner.backend):
        score, weight = (convert(runner.backend, a.astype(dtype)) for a in (margins, weight))
        options = {"sample_weight": weight, "groups": convert(runner.backend, np.asarray(groups))}
        found = lx.interval(1, score, **options)
        other = convert(runner.backend, margins[::-1].astype(dtype))
        difference = lx.compare(1, score, other, **options)
        assert to_numpy(found.high) - to_numpy(found.low) > 0.5
        assert 0.05 < to_numpy(difference.p_value) <= 1


def test_an_all_right_result_takes_the_worst_and_scattered_errors_do_not():
    groups = np.repeat(np.arange(30), 5)
    margins = np.random.default_rng(4).uniform(1, 2, 150)
    all_right = lx.interval(1, margins, groups=groups)
    margins[::38] *= -1  # four errors, in four clusters
    scattered = lx.interval(1, margins, groups=groups)
    assert all_right.estimate == 1
    assert all_right.low < scattered.low
    np.testing.assert_allclose(all_right.low, 0.709, atol=0.002)
    weight = np.random.default_rng(5).lognormal(0, 1, 150)
    found = lx.interval(1, np.abs(margins), groups=groups, sample_weight=weight)
    assert found.standard_error == 0
    assert found.low < all_right.low + 0.03


def test_frequencies_are_copies_in_their_cluster():
    rng = np.random.default_rng(6)
    margins, times = rng.normal(0.8, 1, 40).round(1), rng.integers(0, 5, 40)
    groups = np.arange(40) // 4
    copied = np.repeat(margins, times), np.repeat(groups, times)
    for metric in ("lxcim", "accuracy", "confidence_auroc"):
        options = {"metric": metric}
        expected = lx.interval(1, copied[0], groups=copied[1], **options)
        options |= {"sample_weight": times, "weight_type": "frequency"}
        found = lx.interval(1, margins, groups=groups, **options)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_strata_of_clusters_compare_with_samples_of_the_same_strata():
    rng = np.random.default_rng(7)
    groups = np.repeat(np.arange(24), 6)
    strata = groups % 3
    margins = correlated(rng, 0.9, groups, 0.4) + 0.3 * strata
    found = lx.interval(1, margins, groups=groups, strata=strata)
    psi = lx.influence(1, margins)
    sums = np.bincount(groups, psi)
    off = sums - np.asarray([sums[h::3].mean() for h in range(3)])[np.arange(24) % 3]
    squared = 8 / 7 * np.sum(off**2)
    np.testing.assert_allclose(found.standard_error, np.sqrt(squared), rtol=1e-9)
    k = np.sum(off**2) ** 2 / np.sum(off**4)
    options = {"groups": groups, "strata": strata, "method": "wald", "level": 0.5}
    wald = lx.interval(1, margins, **options)
    width = stats.t.ppf(0.75, min(24 - 3, 2 * (k + 1))) * np.sqrt(squared)
    np.testing.assert_allclose(wald.high - wald.estimate, width, rtol=1e-9)
    alone = lx.interval(1, margins, strata=strata)
    assert found.high - found.low > alone.high - alone.low


@pytest.mark.runners("*-eager")
@pytest.mark.parametrize("metric", METRICS)
def test_all_designs_agree_with_numpy(runner, metric):
    rng = np.random.default_rng(8)
    dtype = runner.backend.dtype
    label = rng.integers(0, 2, (2, 40)).astype(dtype)
    score = rng.normal(1.2 * (2 * label - 1), 1).round(1).astype(dtype)
    score[1] = np.abs(score[1]) * (2 * label[1] - 1) + 0.05 * (2 * label[1] - 1)  # all right
    weight = rng.integers(0, 4, 40).astype(dtype)
    groups, strata = rng.integers(0, 9, 40), np.arange(40) % 2
    nested = 2 * groups + strata
    for options in (
        {},
        {"groups": groups},
        {"groups": np.arange(40)},
        {"groups": nested, "strata": strata},
        {"strata": strata},
        {"weight_type": "frequency"},
        {"weight_type": "frequency", "groups": groups},
    ):
        if "weight_type" in options or metric == "lxcim":
            options["sample_weight"] = weight
        expected = lx.interval(label, score, metric=metric, **options)
        with context(runner.backend):
            arrays = [convert(runner.backend, array) for array in (label, score)]
            options = {
                name: value if isinstance(value, str) else convert(runner.backend, value)
                for name, value in options.items()
            }
            found = lx.interval(*arrays, metric=metric, **options)
            for a, b in zip(found, expected, strict=True):
                tolerance = 1e-9 if dtype == "float64" else 1e-3
                np.testing.assert_allclose(to_numpy(a), b, rtol=tolerance, atol=tolerance / 10)


@pytest.mark.runners("jax-x64-eager")
@pytest.mark.parametrize("metric", METRICS)
def test_intervals_by_clusters_run_under_jit_and_vmap(runner, metric):
    import jax

    rng = np.random.default_rng(9)
    label, groups = rng.integers(0, 2, (3, 30)), rng.integers(0, 8, 30)
    score = rng.normal(1.2 * (2 * label - 1), 1)
    expected = lx.interval(label, score, metric=metric, groups=groups)
    with context(runner.backend):
        arrays = [convert(runner.backend, a) for a in (label, score, groups)]

        def run(label, score, groups):
            return lx.interval(label, score, metric=metric, groups=groups)

        found = jax.jit(jax.vmap(run, (0, 0, None)))(*arrays)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(to_numpy(a), b, rtol=1e-9)


def test_with_infinitely_many_degrees_of_freedom_t_is_normal():
    p, t = np.asarray([0.025, 0.5, 0.9]), np.asarray([-1.0, 0.0, 3.0])
    many = np.full(3, np.inf)
    np.testing.assert_allclose(distributions.t_quantile(np, p, many), stats.norm.ppf(p))
    np.testing.assert_allclose(distributions.t_upper_tail(np, t, many), stats.norm.sf(t))


def test_frames_give_the_intervals_of_arrays_by_clusters():
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("lxcim_xp.frames")
    rng = np.random.default_rng(10)
    groups = rng.integers(0, 12, 90)
    frame = pandas.DataFrame(
        {
            "margin": rng.normal(1, 1, 90),
            "right": True,
            "part": np.arange(90) % 3,
            "question": groups,
        }
    )
    table = frames.evaluate(
        frame, label="right", score="margin", by="part", groups="question", interval=0.9
    )
    for part in range(3):
        here = frame[frame.part == part]
        found = lx.interval(1, here.margin.to_numpy(), groups=here.question.to_numpy(), level=0.9)
        row = table[table.part == part].iloc[0]
        np.testing.assert_allclose([row.lxcim_low, row.lxcim_high], found[1:3], rtol=1e-9)


def test_units_hold_equal_shares():
    groups, weight = np.asarray([0.0, 0, 1, 2, 2]), np.asarray([1.0, 3, 2, 0, 4])
    units = units_of(NUMPY, weight, Design(groups, None, False))
    np.testing.assert_allclose(units.share, [0.5, 0.5, 1, 0, 1])
    np.testing.assert_allclose(units.part, [0.4, 0.4, 0.2, 0.4, 0.4])


@pytest.mark.parametrize("missing", [None, np.nan, np.datetime64("NaT")], ids=str)
@pytest.mark.parametrize("name", ["groups", "strata"])
def test_samples_without_a_label_are_not_one_cluster_together(name, missing):
    y_true, y_score = np.array([1, 0, 1, 1, 0, 1]), np.array([0.3, -0.7, 1.2, -0.1, 0.2, 2.5])
    labels = np.repeat(np.arange(3), 2)
    if isinstance(missing, np.datetime64):
        labels = labels.astype("datetime64[D]")
    given = np.where(np.arange(6) < 4, labels.astype(object), missing)
    if missing is not None:
        given = given.astype(labels.dtype if labels.dtype.kind == "M" else float)
    said = f"{name} must hold a label for each sample; found a missing one at position 4"
    with pytest.raises(ValueError, match=said):
        lx.standard_error(y_true, y_score, **{name: given})
    with pytest.raises(ValueError, match=said):
        lx.compare(y_true, y_score, -y_score, **{name: given})
    # Where samples do not count, nothing is asked.
    for absent in ({"where": np.arange(6) < 4}, {"sample_weight": [1.0, 1, 1, 1, 0, 0]}):
        found = lx.standard_error(y_true, y_score, **absent, **{name: given})
        assert found == lx.standard_error(y_true, y_score, **absent, **{name: labels})


def test_labels_without_an_order_are_refused():
    with pytest.raises(TypeError, match="groups must hold labels of one kind"):
        lx.standard_error(1, [1.0, -2.0, 3.0], groups=np.array([1, "a", 2], dtype=object))
