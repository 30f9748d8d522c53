"""Audits of methods that say which of two variables is the cause."""

import warnings
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

import lxcim_xp as lx
from lxcim_xp.invariance import Variables, methods

LAWS = ["antisymmetry", "orientation", "affine", "reflection", "permutation", "answer"]
SKEWED, NORMAL = (
    [(x, x + rng.normal(size=x.size)) for x in (draw(rng, n) for n in (60, 31, 90, 45, 120, 75))]
    for rng, draw in (
        (np.random.default_rng(0), lambda rng, n: rng.exponential(size=n)),
        (np.random.default_rng(1), lambda rng, n: rng.normal(size=n)),
    )
)
PAIRS = SKEWED + NORMAL


def standard(v):
    return (v - v.mean()) / v.std() if np.ptp(v) else v - v.mean()


def good(x, y):
    """Compare fourth moments and the residuals' third: of standard scores, whatever their sign."""
    x, y = standard(x), standard(y)
    return float(np.mean(x**4) - np.mean(y**4) + abs(np.mean(x**2 * y)) - abs(np.mean(x * y**2)))


def constant(x, y):
    return 1.0


def sure_of_the_first(x, y):
    return good(x, y) * (2.0 if x.sum() < y.sum() else 1.0)


def raw_units(x, y):
    return float(np.var(x) - np.var(y))


def by_skewness(x, y):
    return float(np.mean(standard(x) ** 3) - np.mean(standard(y) ** 3))


def by_first_row(x, y):
    return abs(standard(x)[0]) - abs(standard(y)[0])


def of_long_pairs(x, y):
    if len(x) > 100:
        raise RuntimeError("too many rows")
    return good(x, y)


def holds(method, pairs=PAIRS, **options):
    return {
        law: finding.holds for law, finding in lx.audit_method(method, pairs, **options).items()
    }


def scores(method, example):
    return [method(side.x.copy(), side.y.copy()) for side in (example.before, example.after)]


def test_a_method_that_is_antisymmetric_and_free_of_units_and_order_passes():
    found = lx.audit_method(good, PAIRS)
    assert list(found) == LAWS
    for law, finding in found.items():
        assert finding == (law, finding.statement, True, None, "")
        assert lx.describe(finding) == f"{law}: holds ({finding.statement})"


@pytest.mark.parametrize(
    ("method", "broken", "rows"),
    [
        (lambda x, y: good(x, y) * (1 + (good(x, y) > 0)), {"antisymmetry"}, 3),
        (constant, {"antisymmetry", "orientation"}, 1),
        (raw_units, {"affine"}, 2),
        (by_skewness, {"reflection"}, 3),
        (by_first_row, {"permutation"}, 3),
        (of_long_pairs, {"answer"}, 120),
    ],
)
def test_each_law_is_broken_by_a_method_that_breaks_it_alone(method, broken, rows):
    found = lx.audit_method(method, PAIRS)
    assert {law for law, finding in found.items() if not finding.holds} == broken
    for law in broken:
        example = found[law].counter_example
        assert len(example.before.x) == len(example.after.y) <= rows
        if law != "answer":
            values = [example.value_before, example.value_after]
            assert scores(method, example) == pytest.approx(values, rel=1e-12)
            wanted = -values[0] if law in ("antisymmetry", "orientation") else values[0]
            assert abs(values[1] - wanted) > 1e-6 * abs(wanted)


def test_a_counter_example_is_what_the_law_makes_of_the_same_rows():
    def example(method, law):
        return lx.audit_method(method, PAIRS)[law].counter_example

    before, after, *_ = example(constant, "orientation")
    assert (before.x, before.y) == (after.y, after.x)
    before, after, *_ = lx.audit_method(by_skewness, PAIRS, calls=0)["reflection"].counter_example
    changed = [not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]
    assert sorted(changed) == [False, True]
    np.testing.assert_array_equal(np.abs(before), np.abs(after))
    before, after, *_ = example(by_first_row, "permutation")
    rows = [sorted(zip(*side, strict=True)) for side in (before, after)]
    assert rows[0] == rows[1]
    before, after, *_ = example(raw_units, "affine")
    for name in "xy":
        # A shift does not matter to variances, and one variable is enough.
        ratio = np.unique(getattr(after, name) / getattr(before, name))
        assert ratio.size == 1
        assert np.log2(ratio[0]) == np.round(np.log2(ratio[0]))


def test_a_constant_answer_pays_as_far_as_pairs_are_stored_with_the_cause_first():
    found = lx.audit_method(constant, PAIRS)
    assert found["antisymmetry"].remark == "12 of 12 pairs, 12 signs"
    shares = "12 of 12 pairs, 100 % right as stored, 50 % in a random orientation"
    assert found["orientation"].remark == shares
    assert lx.describe(found["orientation"]).splitlines()[0] == (
        f"orientation: fails, {shares} ({found['orientation'].statement})"
    )
    against = lx.audit_method(lambda x, y: -1.0, PAIRS)["orientation"]
    assert "0 % right as stored, 50 % in" in against.remark
    silent = lx.audit_method(lambda x, y: 0.0, PAIRS)
    assert all(finding.holds for finding in silent.values())


def test_the_shares_are_those_of_every_orientation():
    def prefers_the_first(x, y):
        return good(x, y) + 0.4

    remark = lx.audit_method(prefers_the_first, PAIRS)["orientation"].remark
    right = np.asarray(
        [(prefers_the_first(x, y) > 0, prefers_the_first(y, x) < 0) for x, y in PAIRS]
    )
    assert right[:, 0].mean() > right.mean() > 0.5
    assert remark == (
        f"{(right[:, 0] != right[:, 1]).sum()} of 12 pairs, {100 * right[:, 0].mean():.3g} % "
        f"right as stored, {100 * right.mean():.3g} % in a random orientation"
    )


def test_the_undecided_are_half_right():
    def decides_backwards(x, y):
        return float(x[0] > y[0])

    remark = lx.audit_method(decides_backwards, [([1.0], [2.0])])["orientation"].remark
    assert remark == "1 of 1 pairs, 50 % right as stored, 25 % in a random orientation"


def test_errors_of_two_pairs_do_not_cancel():
    def by_length(x, y):
        return 1.0 if len(x) == 31 else -1.0

    two = [pair for pair in PAIRS if len(pair[0]) in (31, 45)]
    finding = lx.audit_method(by_length, two)["orientation"]
    assert not finding.holds
    assert "50 % right as stored, 50 % in a random orientation" in finding.remark


def test_the_sure_and_the_unsure_have_one_orientation():
    found = lx.audit_method(sure_of_the_first, PAIRS)
    assert found["orientation"].holds
    assert not found["antisymmetry"].holds
    assert found["antisymmetry"].remark == "12 of 12 pairs, 0 signs"


def test_signs_are_counted_where_they_change():
    def sign_alone(x, y):
        return np.sign(raw_units(x, y))

    magnitude, sign = (
        lx.audit_method(method, PAIRS, laws=["affine"])["affine"]
        for method in (raw_units, sign_alone)
    )
    assert magnitude.remark.startswith("12 of 12 pairs, ")
    signs = magnitude.remark.removeprefix("12 of 12 pairs, ").removesuffix(" signs")
    assert 2 <= int(signs) <= 10  # at random, half
    assert sign.remark == f"{signs} of 12 pairs, {signs} signs"


def test_the_shortest_pair_is_shown_and_left_alone_without_calls():
    for pairs in (PAIRS, PAIRS[::-1]):
        example = lx.audit_method(constant, pairs, calls=0)["antisymmetry"].counter_example
        assert len(example.before.x) == 31
        assert len(lx.audit_method(raw_units, pairs, calls=0)["affine"][3].after.x) == 31
    line = lx.describe(lx.audit_method(constant, PAIRS, calls=0)["antisymmetry"]).splitlines()[1]
    assert line.count(", ..., ") == 2
    assert line.endswith(", 31 rows: 1")


@pytest.mark.parametrize("calls", [0, 1, 7, 40])
@pytest.mark.parametrize("method", [constant, raw_units, by_skewness, by_first_row])
def test_calls_are_counted(method, calls):
    count = 0

    def counting(x, y):
        nonlocal count
        count += 1
        return method(x, y)

    found = lx.audit_method(counting, PAIRS, calls=calls)
    broken = [law for law, finding in found.items() if not finding.holds]
    plain = 5 * len(PAIRS)
    assert plain + (calls // 2 > 0) <= count <= plain + calls * len(broken)
    count = 0
    lx.audit_method(counting, PAIRS, laws=["permutation"], calls=0)
    assert count == 2 * len(PAIRS)


def test_a_row_that_matters_is_found_among_many():
    def odd_one(x, y):
        return float(np.sum(x == 7.0))

    x = np.arange(1000.0)
    finding = lx.audit_method(odd_one, [(x, -x - 1)], laws=["antisymmetry"])["antisymmetry"]
    np.testing.assert_array_equal(finding.counter_example.before, [[7.0], [-8.0]])


def test_no_row_of_a_counter_example_can_be_left_out():
    def of_a_beginning(x, y):
        return float(np.array_equal(abs(x), np.arange(len(x))))

    finding = lx.audit_method(of_a_beginning, [(np.arange(7.0), -np.arange(7.0))])["antisymmetry"]
    assert len(finding.counter_example.before.x) == 1


def test_another_breach_is_not_taken_for_a_smaller_one():
    def shy(x, y):
        return np.nan if len(x) < 5 and x.sum() < y.sum() else 1.0

    example = lx.audit_method(shy, PAIRS)["antisymmetry"].counter_example
    assert (example.value_before, example.value_after) == (1.0, 1.0)
    assert len(example.before.x) == 5


def raises(x, y):
    if np.any(x == 99.0) or np.any(y == 99.0):
        raise ZeroDivisionError("99 is bad")
    if len(x) < 4:
        raise ZeroDivisionError("too few")
    return good(x, y)


def test_a_method_that_raises_on_some_pairs_has_no_answer_to_them():
    with_99 = [(np.append(x, 99.0), np.append(y, 0.0)) for x, y in PAIRS[:2]]
    found = lx.audit_method(raises, PAIRS + with_99, laws=["antisymmetry", "permutation", "answer"])
    assert [finding.holds for finding in found.values()] == [True, True, False]
    assert found["answer"].remark == "2 of 14 pairs, raised ZeroDivisionError: 99 is bad"
    example = found["answer"].counter_example
    # Not fewer rows than it answers elsewhere: with three, any pair would do.
    assert len(example.before.x) == 4
    assert 99.0 in example.before.x
    assert np.isnan([example.value_before, example.value_after]).all()
    described = lx.describe(found["answer"]).splitlines()
    assert len(described) == 2
    assert described[0].startswith("answer: fails, 2 of 14 pairs, raised ZeroDivisionError: 99")
    assert described[1].endswith(": nan")


def test_a_long_error_is_one_line_of_the_finding():
    def talkative(x, y):
        if len(x) > 100:
            raise RuntimeError("it failed\n  in " + 50 * "many words ")
        return good(x, y)

    finding = lx.audit_method(talkative, PAIRS)["answer"]
    assert finding.remark.startswith("2 of 12 pairs, raised RuntimeError: it failed in many words")
    assert len(finding.remark) < 250
    assert len(lx.describe(finding).splitlines()) == 2


def test_an_error_is_not_taken_for_another():
    def two_troubles(x, y):
        if np.any(x == 99.0) or np.any(y == 99.0):
            raise ZeroDivisionError("99 is bad")
        return np.nan if min(x[0], y[0]) < 0 else 1.0

    bad = (np.asarray([99.0, *-np.arange(1.0, 40.0)]), np.arange(40.0))
    answer = lx.audit_method(two_troubles, [bad, (np.arange(9.0), np.arange(9.0))])["answer"]
    assert answer.remark == "1 of 2 pairs, raised ZeroDivisionError: 99 is bad"
    np.testing.assert_array_equal(answer.counter_example.before.x, [99.0])


def test_an_answer_in_one_orientation_is_not_enough():
    def one_way(x, y):
        return np.nan if x[0] > 1000 else good(x, y)

    pairs = [*PAIRS, (PAIRS[1][0], PAIRS[1][1] + 2000)]
    found = lx.audit_method(one_way, pairs, laws=["antisymmetry", "orientation", "answer"])
    assert [finding.holds for finding in found.values()] == [False, True, False]
    remark = "1 of 13 pairs, 0 signs, 1 answered only before or only after"
    assert found["antisymmetry"].remark == remark
    assert found["answer"].remark == "1 of 13 pairs, returned nan"
    assert found["answer"].counter_example.before.x[0] > 1000
    nowhere = lx.audit_method(one_way, pairs[-1:], laws=["orientation"])["orientation"]
    assert nowhere.holds is None
    assert lx.describe(nowhere) == (
        "orientation: not tried, no pair has an answer in both orientations"
    )


@pytest.mark.parametrize(
    "nothing",
    [np.nan, np.inf, None, np.asarray([np.nan]), np.ma.masked, np.ma.array([1.0], mask=[True])],
)
def test_what_is_no_finite_number_is_no_answer(nothing):
    def method(x, y):
        return nothing if len(x) > 100 else good(x, y)

    found = lx.audit_method(method, PAIRS)
    assert [law for law, finding in found.items() if not finding.holds] == ["answer"]
    assert found["answer"].remark.startswith("2 of 12 pairs, returned ")


def test_answers_that_a_change_takes_away_break_its_law():
    def of_positive(x, y):
        return np.mean(np.log(x)) - np.mean(np.log(y))  # NaN below zero

    pairs = [(np.exp(x), np.exp(y)) for x, y in PAIRS]
    finding = lx.audit_method(of_positive, pairs)["reflection"]
    assert finding.remark == "12 of 12 pairs, 0 signs, 12 answered only before or only after"
    assert np.isfinite(finding.counter_example.value_before)
    assert np.isnan(finding.counter_example.value_after)
    assert len(finding.counter_example.before.x) == 1


@pytest.mark.parametrize(
    "kind",
    [float, np.float32, np.asarray, Fraction, lambda v: np.asarray([v]), lambda v: [v], np.float64],
)
def test_every_kind_of_one_number_is_an_answer(kind):
    assert all(holds(lambda x, y: kind(good(x, y))).values())
    assert not holds(lambda x, y: kind(abs(good(x, y))))["antisymmetry"]


def test_a_method_may_write_to_what_it_gets_and_warn():
    def careless(x, y):
        warnings.warn("I always do", stacklevel=1)
        value = good(x, y)
        x[...], y[...] = 0.0, np.nan
        return value

    pairs = [(x.copy(), y.copy()) for x, y in PAIRS]
    assert all(holds(careless, pairs).values())
    np.testing.assert_array_equal(np.concatenate(pairs, axis=1), np.concatenate(PAIRS, axis=1))


def test_rounding_is_no_breach_and_tolerance_says_what_is():
    shaken = {}

    def rounded(x, y):
        noise = shaken.setdefault(x.tobytes(), len(shaken)) % 5 - 2
        return good(x, y) * (1 + 1e-8 * noise)

    assert all(holds(rounded).values())
    strict = holds(rounded, tolerance=1e-10)
    assert [strict[law] for law in ("affine", "permutation")] == [False, False]

    def of_two_sizes(x, y):
        return rounded(x, y) * (1e12 if len(x) == 31 else 1.0)

    def good_at_one(x, y):
        return good(x, y) * (1e12 if len(x) == 31 else 1.0 + (x[0] > y[0]))

    assert all(holds(of_two_sizes).values())
    assert not holds(good_at_one)["antisymmetry"]

    def of_large_costs(x, y):
        return float(np.round(good(x, y) + 1e5, 10) - 1e5) if len(x) > 31 else len(x) * 1e-14

    # The score of one pair is nothing but rounding, and has the same sign in both orientations.
    assert all(holds(of_large_costs).values())
    assert not holds(of_large_costs, PAIRS[1:2])["orientation"]


def test_methods_of_ranks_and_gaps_see_no_ties_that_were_not_there():
    def gaps(v):
        return np.mean(np.log(np.diff(np.unique(standard(v)))))

    def by_gaps(x, y):
        return gaps(x) - gaps(y)

    rng = np.random.default_rng(0)
    tiny = [np.append(rng.normal(size=30), rng.normal(size=30) * 1e-17) for _ in range(20)]
    for x, y in zip(tiny[::2], tiny[1::2], strict=True):
        for side in (x, y):
            for _ in range(10):
                scale, shift = methods._draw_unit(rng, side)
                assert scale != 1
                assert np.log2(scale) == int(np.log2(scale))
                assert np.unique((side + shift) * scale).size == 60
    years = [(rng.permutation(2000 + np.arange(40.0)), rng.integers(0, 99, 40) / 4)]
    for side in years[0]:
        scale, shift = methods._draw_unit(rng, side)
        assert shift != 0
        np.testing.assert_array_equal((side + shift) - shift, side)
    assert holds(by_gaps, years, tolerance=1e-12)["affine"]


def test_shifts_go_where_no_digit_is_lost():
    rng = np.random.default_rng(3)
    for side in (rng.uniform(18, 30, 50).round(1), -rng.uniform(1024, 2000, 50).round(2)):
        for _ in range(20):
            _, shift = methods._draw_unit(rng, side)
            assert shift != 0
            np.testing.assert_array_equal((side + shift) - shift, side)


def test_the_order_of_pairs_does_not_matter():
    order = np.random.default_rng(2).permutation(len(PAIRS))
    shuffled = [PAIRS[place] for place in order]

    def sometimes(x, y):
        return np.sign(raw_units(x, y)) * (2 - (standard(x)[0] > standard(y)[0]))

    for method in (good, constant, raw_units, by_skewness, by_first_row, sometimes):
        first, second = (lx.audit_method(method, pairs) for pairs in (PAIRS, shuffled))
        for law in LAWS:
            assert first[law].holds == second[law].holds
            assert first[law].remark == second[law].remark


def test_seeds_reproduce():
    def said(seed, **options):
        found = lx.audit_method(raw_units, PAIRS, seed=seed, **options)
        return lx.describe(found["affine"])

    assert said(3) == said(3) == said(3, laws=["answer", "affine"])
    assert said(np.random.default_rng(3)) == said(3)
    assert said(3) != said(4)


class Named(NamedTuple):
    number: int
    x: np.ndarray
    y: np.ndarray
    weight: float


def test_pairs_may_be_lists_and_have_more_fields():
    plain = lx.audit_method(raw_units, PAIRS)
    for pairs in (
        [Named(number, x, y, 0.5) for number, (x, y) in enumerate(PAIRS)],
        [(x.tolist(), y.tolist()) for x, y in PAIRS],
        [np.stack(pair) for pair in PAIRS],
        (pair for pair in PAIRS),
    ):
        found = lx.audit_method(raw_units, pairs)
        assert [*map(lx.describe, found.values())] == [*map(lx.describe, plain.values())]

    def types(x, y):
        assert x.dtype == y.dtype == np.float64
        return constant(x, y)

    assert holds(types, [([1, 2], [True, False])])["answer"]


def test_tables_are_of_methods_or_of_metrics():
    audits = {
        method.__name__: lx.audit_method(method, PAIRS) for method in (good, constant, raw_units)
    }
    assert lx.audit_table(audits).splitlines() == [
        "| method    | antisymmetry | orientation | affine | reflection | permutation | answer |",
        "|-----------|--------------|-------------|--------|------------|-------------|--------|",
        "| good      | yes          | yes         | yes    | yes        | yes         | yes    |",
        "| constant  | no           | no          | yes    | yes        | yes         | yes    |",
        "| raw_units | yes          | yes         | no     | yes        | yes         | yes    |",
    ]
    # Both kinds of audit have a law of this name.
    of_method = lx.audit_method(good, PAIRS, laws=["permutation"])
    of_metric = lx.audit(lx.lxcim, laws=["permutation"])
    assert lx.audit_table({"good": of_method}).startswith("| method | permutation |")
    assert lx.audit_table({"lxcim": of_metric}).startswith("| metric | permutation |")


def test_counter_examples_hold_variables():
    example = lx.audit_method(constant, PAIRS)["antisymmetry"].counter_example
    assert isinstance(example, lx.CounterExample)
    assert isinstance(example.before, Variables)
    assert isinstance(example.after, Variables)


ONE = [([1.0, 2.0], [3.0, 4.0])]


@pytest.mark.parametrize(
    ("kind", "method", "pairs", "options", "message"),
    [
        (TypeError, 0.5, ONE, {}, "method must be a function of two variables; found 0.5. Pass"),
        (TypeError, good, 3, {}, r"pairs must be a sequence of pairs \(x, y\); found 3. Pass"),
        (ValueError, good, [], {}, r"pairs must hold at least one pair \(x, y\); found none"),
        (ValueError, good, [*ONE, 7], {}, "pairs must hold pairs .*found 7 at position 1. Pass"),
        (ValueError, good, np.zeros((2, 9)), {}, "found ndarray of 9 items at position 0. Pass"),
        (
            ValueError,
            good,
            [*ONE, ([1.0], [2.0, 3.0])],
            {},
            "sides of equal length; found 1 values of x and 2 of y at position 1. Pass",
        ),
        (ValueError, good, [(1.0, 2.0)], {}, r"found x of shape \(\) at position 0. Pass"),
        (ValueError, good, [([], [])], {}, r"found x of shape \(0,\) at position 0"),
        (ValueError, good, [([1.0], [[2.0]])], {}, r"found y of shape \(1, 1\) at position 0"),
        (
            ValueError,
            good,
            [*ONE, ([1, 2], ["a", "b"])],
            {},
            "numbers; found .* as y at position 1",
        ),
        (ValueError, good, [([1, [2]], [1, 2])], {}, r"found \[1, \[2\]\] as x at position 0"),
        (ValueError, good, [([1j], [1])], {}, r"found \[1j\] as x at position 0. Convert"),
        (
            ValueError,
            good,
            [*ONE, ([1.0, 2.0], np.ma.array([3.0, 4.0], mask=[True, False]))],
            {},
            "arrays without a mask; found a masked one as y at position 1. Leave out",
        ),
        (ValueError, lambda x, y: 10**400, ONE, {}, "must return one number; .* returned 1000"),
        (
            ValueError,
            lambda x: x,
            ONE,
            {},
            "method has no answer to any of the pairs; <lambda> raised TypeError: .*at position 0",
        ),
        (ValueError, lambda x, y: np.nan, ONE, {}, "<lambda> returned nan at position 0. Check"),
        (ValueError, lambda x, y: "x", ONE, {}, "must return one number; <lambda> returned 'x'"),
        (ValueError, lambda x, y: x, ONE, {}, r"an array of shape \(2,\) for the pair at position"),
        (ValueError, good, ONE, {"laws": ["affine", "lxc"]}, "laws must .*'lxc' at position 1"),
        (ValueError, good, ONE, {"calls": -1}, "calls must not be negative; found -1"),
        (ValueError, good, ONE, {"tolerance": np.nan}, "tolerance must be finite .*found nan"),
    ],
)
def test_what_cannot_be_audited_is_said(kind, method, pairs, options, message):
    with pytest.raises(kind, match=message):
        lx.audit_method(method, pairs, **options)


def test_a_method_that_returns_something_else_later_is_named_with_the_pair():
    def sometimes_two(x, y):
        return [0.5, 0.5] if len(x) == 45 else good(x, y)

    place = [len(x) for x, _ in PAIRS].index(45)
    with pytest.raises(ValueError, match=rf"sometimes_two .* pair at position {place}\."):
        lx.audit_method(sometimes_two, PAIRS)


@pytest.mark.parametrize("law", ["antisymmetry", "answer"])
def test_what_a_method_returns_for_a_few_rows_of_a_pair_is_no_error(law):
    def by_window(x, y):
        if law == "answer" and x[0] == 99.0:
            return np.nan
        return 1.0 if len(x) >= 9 else x[9:]

    pairs = [*PAIRS, (np.full(20, 99.0), np.arange(20.0))]
    example = lx.audit_method(by_window, pairs, laws=[law])[law].counter_example
    assert len(example.before.x) == 9
