"""Functions of one family agree in the names, order, kinds and defaults of their parameters.

Signatures are written out, so that a reader sees them where they are. What differs on purpose is
listed here, with the reason.
"""

import inspect
from itertools import combinations

import pytest
from public_names import FUNCTIONS

EMPTY = inspect.Parameter.empty
KEYWORD = inspect.Parameter.KEYWORD_ONLY
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def family(first, *topics):
    """Return the parameters of each function of a topic that takes one of the given data."""
    return {
        f"{topic}.{function.__name__}": inspect.signature(function).parameters
        for name, function in FUNCTIONS.items()
        if (topic := name.split(".")[1]) in topics
        and not first.isdisjoint(inspect.signature(function).parameters)
    }


TOPICS = (
    *("metrics", "confusion", "curves", "selective", "exchange", "inference", "soft", "sketch"),
    "choices",
)
FAMILIES = {
    "arrays": family({"y_true", "y_score", "swapped"}, *TOPICS),
    "frames": family({"label"}, "frames", "report"),
    "polars": family({"label"}, "polars"),
}
# What every function of a family takes, in this order and side by side.
SHARED = {
    "arrays": ("sample_weight", "where", "threshold", "decision", "axis", "nan_policy"),
    "frames": ("threshold", "decision", "positive", "negative", "ties", "nan_policy"),
    "polars": ("weight", "threshold", "decision", "positive", "negative", "ties", "nan_policy"),
}
MISSING = {
    # Models are compared sample by sample: their scores have one shape, samples last.
    "inference.compare": {"axis"},
    "inference.compare_all": {"axis"},
    "inference.required_samples": {"axis"},
    # Labels alone say what no score can do better than.
    "choices.ceiling": {"threshold", "decision", "nan_policy"},
    # An opinion is of one pair, whatever that weighs.
    "choices.both_orders": {"sample_weight"},
    # One list of samples has one axis.
    "inference.bootstrap": {"axis"},
    "exchange.exchange_spread": {"where", "axis"},
    # Samples are changed one by one, with their missing scores, and weights stay as they are.
    "exchange.exchange": {"sample_weight", "axis", "nan_policy"},
    "exchange.random_exchange": {"sample_weight", "axis", "nan_policy"},
    "exchange.symmetrize": {"axis", "nan_policy"},
    # Ranks need no decision.
    "soft.soft_rank": {"threshold", "decision", "nan_policy"},
}
# Here the options of the method come before those of the samples, elsewhere after them.
METHOD_FIRST = ("inference", "exchange", "choices")
OTHER_DEFAULTS = {
    # A convex loss depends on the scale of the scores, and has no unit that fits all.
    ("soft.lxcim_surrogate", "temperature"),
    # Scores, unlike margins, have no zero: their spread is the unit.
    ("soft.soft_auroc", "scale"),
    ("soft.soft_rank", "scale"),
    # Percentiles in the tails take more resamples than a standard deviation.
    ("inference.interval", "n_resamples"),
    # A metric is given, where others have the name of one.
    ("exchange.exchange_spread", "metric"),
    # A spread takes many exchanges of the same data; one exchange should be asked for.
    ("exchange.exchange_spread", "n"),
    ("exchange.random_exchange", "seed"),
    # The only target here, one of two there.
    ("selective.threshold_for", "accuracy"),
    # Without labels, what the order does can still be seen; and one of two forms has scores.
    ("frames.orders", "label"),
    ("frames.orders", "score"),
    # The page itself says when scores look like probabilities.
    ("report.html", "threshold"),
}
CASES = [(kind, name) for kind, functions in FAMILIES.items() for name in functions]


def test_families_are_found():
    assert len(FAMILIES["arrays"]) > 35
    assert len(FAMILIES["frames"]) > 7
    assert len(FAMILIES["polars"]) > 2


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_shared_keywords_are_there_in_order_and_side_by_side(kind, name):
    given = [p.name for p in FAMILIES[kind][name].values() if p.kind is KEYWORD]
    shared = [key for key in SHARED[kind] if key not in MISSING.get(name, ())]
    first = given.index(shared[0])
    assert given[first : first + len(shared)] == shared
    assert MISSING.get(name, set()).isdisjoint(given)
    if kind == "arrays":
        at_the_end = name.startswith(METHOD_FIRST)
        assert first == (len(given) - len(shared) if at_the_end else 0)


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_what_follows_the_data_is_passed_by_keyword(kind, name):
    for parameter in FAMILIES[kind][name].values():
        if parameter.kind not in VARIADIC and (name, parameter.name) != (
            "exchange.exchange",
            "which",
        ):
            assert parameter.kind is KEYWORD or parameter.default is EMPTY, parameter


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_name_has_one_kind_and_one_default(kind):
    seen = {}
    for function, parameters in FAMILIES[kind].items():
        for name, parameter in parameters.items():
            if (function, name) not in OTHER_DEFAULTS:
                seen.setdefault(name, {}).setdefault(
                    (parameter.kind, repr(parameter.default)), []
                ).append(function)
    assert {name: found for name, found in seen.items() if len(found) > 1} == {}


def test_every_exception_is_one():
    for functions in FAMILIES.values():
        for function, parameters in functions.items():
            for name, parameter in parameters.items():
                if (function, name) in OTHER_DEFAULTS:
                    others = {
                        (other[name].kind, other[name].default)
                        for key, other in functions.items()
                        if name in other and (key, name) not in OTHER_DEFAULTS
                    }
                    assert (parameter.kind, parameter.default) not in others, (function, name)
    known = {
        (function, name) for fs in FAMILIES.values() for function in fs for name in fs[function]
    }
    assert known >= OTHER_DEFAULTS
    assert {function for fs in FAMILIES.values() for function in fs} >= MISSING.keys()


@pytest.mark.parametrize("kind", FAMILIES)
def test_two_names_have_one_order(kind):
    orders = {}
    for function, parameters in FAMILIES[kind].items():
        own = [
            name
            for name in parameters
            if name not in SHARED[kind] and (function, name) not in OTHER_DEFAULTS
        ]
        for pair in combinations(own, 2):
            orders.setdefault(pair, []).append(function)
    assert {pair: orders[pair] for pair in orders if pair[::-1] in orders} == {}
