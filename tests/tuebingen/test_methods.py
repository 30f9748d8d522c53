"""The sixteen methods: laws that all of them obey, answers that are known, the paper's rows."""

import math
import warnings

import numpy as np
import pytest

import lxcim_xp as lx

for library in ("jax", "pyvinecopulib", "scipy"):
    pytest.importorskip(library)
methods = pytest.importorskip("methods")
BATCHES, CLEAN, METHODS, NoAnswer = (
    methods.BATCHES,
    methods.CLEAN,
    methods.METHODS,
    methods.NoAnswer,
)

# Small versions of those that train a network: what is asked here does not depend on how long.
SMALL = {name: {"steps": 500} for name in ("LOCI", "LOCI clean", "ROCHE", "ROCHE clean")}
ALL = {**METHODS, **{f"{name} clean": method for name, method in CLEAN.items()}}
QUICK = {name: method for name, method in ALL.items() if method not in BATCHES}
EVERY = pytest.mark.parametrize("name", ALL)


def answer(name, x, y):
    return ALL[name](x, y, **SMALL.get(name, {}))


def cubic(n=300, seed=0, noise=0.1):
    """Return a cause and an effect: a uniform cause, a bent mechanism and a little noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x, x + 2 * x**3 + noise * rng.standard_normal(n)


def test_the_names_are_the_papers():
    names = "ANM bQCD CAM CDCI CDS CGNN FOM HECI IGCI LCUBE LOCI NNCL RECI ROCHE SLOPE SLOPPY"
    assert list(METHODS) == names.split()
    assert set(CLEAN) <= set(METHODS)
    assert all(CLEAN[name] is not METHODS[name] for name in CLEAN)


@EVERY
def test_the_answer_is_a_number_and_the_same_when_asked_again(name):
    x, y = cubic()
    before = x.copy(), y.copy()
    found = answer(name, x, y)
    assert isinstance(found, float)
    assert math.isfinite(found)
    assert found == answer(name, x, y)
    assert (x == before[0]).all()
    assert (y == before[1]).all()


@EVERY
@pytest.mark.parametrize("seed", [0, 1])
def test_exchanging_the_sides_exchanges_the_sign(name, seed):
    x, y = cubic(200, seed)
    forward, backward = answer(name, x, y), answer(name, y, x)
    assert backward == pytest.approx(-forward, rel=1e-6, abs=1e-9)


@EVERY
def test_integers_and_columns_are_taken_as_numbers(name):
    x, y = (np.round(20 * side).astype(int) for side in cubic(200))
    expected = answer(name, x.astype(float), y.astype(float))
    assert answer(name, x, y) == expected
    assert answer(name, x[:, None], y.tolist()) == expected


@EVERY
@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda x, y: (0 * x + 3, y), NoAnswer, "x is constant"),
        (lambda x, y: (x, 0 * y), NoAnswer, "y is constant"),
        (lambda x, y: (x[:2], y[:2]), NoAnswer, "2 samples are too few"),
        (lambda x, y: (x[:0], y[:0]), NoAnswer, "0 samples are too few"),
        (lambda x, y: (np.r_[x[:9], np.nan, x[10:]], y), ValueError, "x must.* nan at position 9"),
        (lambda x, y: (x, np.r_[y[:-1], np.inf]), ValueError, "y must.* inf at position 119"),
        (lambda x, y: (x, y[1:]), ValueError, "same length; found 120 and 119"),
        (lambda x, y: (x, np.ma.array(y, mask=x == x[5])), ValueError, "y must.* at position 5"),
        (lambda x, y: (x + 1j, y), ValueError, r"x must hold real numbers; found array\("),
        (lambda x, y: (x, list("word" * 30)), ValueError, r"y must hold real numbers; found \['w"),
        (lambda x, y: (x, [[1, 2], [3]]), ValueError, "y must hold real numbers"),
        (lambda x, y: (1.0, 2.0), NoAnswer, "1 samples are too few"),
        (lambda x, y: (1e200 * x, y), NoAnswer, "variance of x is beyond the range of floats"),
        (lambda x, y: (x, 1e-200 * y), NoAnswer, "variance of y is beyond the range of floats"),
    ],
)
def test_bad_input_is_named(name, change, error, says):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error, match=says):
            answer(name, *change(*cubic(120)))


@EVERY
def test_a_side_with_several_columns_has_a_reason_or_an_answer(name):
    x, y = cubic(200)
    wide = np.column_stack([x, y**2])
    if name.split()[0] in ("IGCI", "bQCD", "SLOPE", "SLOPPY"):
        assert math.isfinite(answer(name, wide, y))
    else:
        with pytest.raises(NoAnswer, match=r"x has shape \(200, 2\)"):
            answer(name, wide, y)


@pytest.mark.parametrize("name", ["bQCD", "SLOPE", "SLOPPY"])
def test_methods_written_in_r_saw_the_first_two_columns(name):
    x, y = cubic(200)
    first, second = x, y + x
    assert answer(name, np.column_stack([first, second]), y) == answer(name, first, second)


@pytest.mark.parametrize("name", [name for name in ALL if ALL[name] in BATCHES])
def test_a_batch_answers_each_pair_as_if_it_were_alone(name):
    method, options = ALL[name], SMALL.get(name, {})
    pairs = [cubic(130, 1), cubic(300, 2), (np.ones(130), cubic(130)[1]), cubic(90, 3)]
    found = dict(BATCHES[method](pairs, **options))
    assert set(found) == {0, 1, 2, 3}
    assert isinstance(found[2], NoAnswer)
    for place in (0, 1, 3):
        assert found[place] == pytest.approx(method(*pairs[place], **options), rel=0.05, abs=1e-3)


def bent(u, x, e):
    return u, u**3 + 0.05 * e


def parabola(u, x, e):
    return x, x**2 + 0.1 * e


def corner(u, x, e):
    return x, np.abs(x) + 0.1 * e


def noisier_outside(u, x, e):
    return x, x + (0.1 + 0.4 * np.abs(x)) * e


def growth(u, x, e):
    return x, np.exp(2 * x) + 0.3 * e


def cube(u, x, e):
    return x, x**3 + 0.1 * e


def wave(u, x, e):
    return x, np.sin(3 * x) + 0.2 * e


def short_wave(u, x, e):
    return x[:400], np.sin(4 * x[:400]) + 0.1 * e[:400]


def short_parabola(u, x, e):
    return x[:400], x[:400] ** 2 + 0.05 * e[:400]


def noisier_wave(u, x, e):
    x = 2 * x[:250]
    return x, np.sin(2 * x) + (0.1 + 0.2 * np.abs(x)) * e[:250]


def thick_parabola(u, x, e):
    x, e = e[:250], e[250:500]
    return x, x**2 + 0.3 * e


# Mechanisms for which a method finds the cause, and by what its own idea says: not all of them can
# tell all mechanisms.
KNOWN = {
    "RECI": (bent, parabola),
    "CDS": (parabola, corner),
    "CDCI": (parabola, noisier_outside),
    "NNCL": (parabola, corner),
    "HECI": (parabola, wave),
    "SLOPE": (bent, growth),
    "LCUBE": (bent, cube),
    "LCUBE clean": (cube, growth),
    "IGCI": (bent, growth),
    "ANM": (short_parabola, short_wave),
    "bQCD": (short_parabola, short_wave),
    "CAM clean": (short_parabola, short_wave),
    "FOM clean": (short_parabola, short_wave),
    "SLOPPY": (short_parabola, short_wave),
    "CGNN": (thick_parabola,),
    "LOCI": (noisier_wave,),
    "LOCI clean": (noisier_wave,),
    "ROCHE": (noisier_wave,),
    "ROCHE clean": (noisier_wave,),
}


@pytest.mark.parametrize(
    ("name", "mechanism"), [(name, m) for name, mechanisms in KNOWN.items() for m in mechanisms]
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_cause_is_found(name, mechanism, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, 1000)
    pair = mechanism((x + 1) / 2, x, rng.standard_normal(1000))
    assert answer(name, *pair) > 0


def test_raw_units_decide_what_lcube_says():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 1000)
    pair = growth(None, x, rng.standard_normal(1000))
    assert answer("LCUBE", *pair) < 0 < answer("LCUBE clean", *pair)


def test_the_side_with_the_larger_unit_is_the_cause_to_fom():
    x, y = cubic()
    assert answer("FOM", x, 10 * y) < 0 < answer("FOM", 10 * x, y)
    assert (answer("FOM clean", x, 10 * y) > 0) == (answer("FOM clean", 10 * x, y) > 0)


def test_cam_says_the_edge_in_small_units_and_the_opposite_in_large_ones():
    x, y = cubic()
    assert answer("CAM clean", x, y) > 0
    assert answer("CAM", 100 * x, 100 * y) < 0 < answer("CAM", x / 100, y / 100)
    clean = answer("CAM clean", x, y)
    assert answer("CAM clean", 100 * x, y / 100) == pytest.approx(clean, rel=1e-6)


def of_the_pairs(method, pairs):
    """Return the score of each pair; NaN for no answer, which is the only way not to answer."""
    scores = []
    for pair in pairs:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                scores.append(method(pair.x, pair.y))
        except NoAnswer:
            scores.append(math.nan)
    return np.array(scores)


# LxCIM on the 99 pairs of the scores behind the paper's table, in percent, and how near we come.
ROWS = {
    "IGCI": (70.0, 0.1),
    "RECI": (78.5, 0.1),
    "CDS": (66.5, 0.1),
    "CDCI": (66.3, 0.1),
    "NNCL": (63.8, 0.1),
    "HECI": (73.4, 0.1),
    "SLOPE": (79.8, 0.1),
    "LCUBE": (70.0, 0.1),
    "SLOPPY": (78.3, 1.0),
    "FOM": (50.5, 0.5),
    "CAM": (47.0, 1.5),
}


# Formulas that leave nothing open: each pair has the score behind the paper's table.
EXACT = ("IGCI", "RECI", "CDS", "CDCI", "NNCL", "HECI", "SLOPE", "LCUBE")


@pytest.mark.parametrize("name", EXACT)
def test_each_pair_has_the_score_of_the_papers_run(name, pairs, published):
    expected = np.array([published[name, pair.number] for pair in pairs], dtype=float)
    found = of_the_pairs(METHODS[name], pairs)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ROWS)
def test_the_papers_row_is_reached(name, pairs):
    target, near = ROWS[name]
    scores = of_the_pairs(METHODS[name], pairs)
    weights = [pair.weight for pair in pairs]
    found = 100 * lx.lxcim(1, scores, sample_weight=weights, threshold=0.0, nan_policy="omit")
    assert abs(found - target) < near + 0.05  # the target is rounded
