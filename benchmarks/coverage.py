"""Coverage of the intervals and size of the paired test, by simulation.

    python benchmarks/coverage.py [--metrics lxcim audrc] [--designs independent uneven] ...

Draws data whose true value is known, and counts how often the interval contains it. Each cell shows
coverage in per cent / mean width, of the data sets in which the metric has an interval. The true
value is that of the law itself, from a fine grid of its quantiles. Seeds are fixed, and each table
has its own: a part of the tables is the same as in a full run. ``--help`` lists the choices; all of
them together take hours.
"""

import argparse
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, stats

import lxcim_xp as lx

Array = np.ndarray
METRICS = ("lxcim", "accuracy", "audrc", "auroc", "confidence_auroc")
GRID = 1 << 16  # quantiles of a law in all
AT_ONCE = 300_000  # samples that are drawn and evaluated in one go


class Model(NamedTuple):
    """One law of data: what is measured, on which shape, and the parameter that gives its value."""

    metric: str
    shape: str
    value: float  # that the metric shall have
    base: float  # share of right decisions, or of positives, where a metric compares these


class Design(NamedTuple):
    """How the samples of a data set are drawn."""

    groups: Array | None = None
    strata: Array | None = None
    shift: Array | None = None  # of the law of each sample
    weight: str | None = None
    correlation: float = 0.0  # inside of a cluster
    where: Array | None = None


# Shapes of margins, given a standard normal number, a parameter, and the value that is aimed at.


def _normal(z: Array, parameter: Array, value: float) -> Array:
    return parameter + z


def _t2(z: Array, parameter: Array, value: float) -> Array:
    p = stats.norm.cdf(z)
    return parameter + (2 * p - 1) / np.sqrt(2 * p * stats.norm.sf(z))


def _hard_core(z: Array, parameter: Array, value: float) -> Array:
    """Return normal margins, but for a fifth of 1 - value that is wrong with great confidence."""
    return np.where(z < stats.norm.ppf((1 - value) / 5), z - 9, parameter + z)


def _three_levels(z: Array, parameter: Array, value: float) -> Array:
    margin = parameter + z
    return np.sign(margin) * (1 + np.digitize(np.abs(margin), [0.7, 1.6]))


def _all_tied(z: Array, parameter: Array, value: float) -> Array:
    return np.sign(parameter + z)


MARGINS: dict[str, Callable[[Array, Array, float], Array]] = {
    "normal": _normal,
    "t2": _t2,
    "hard-core": _hard_core,
    "three-levels": _three_levels,
    "all-tied": _all_tied,
}
# Shapes of a confidence that is drawn apart from what is right: log-normal and saying nothing, or
# larger for wrong decisions, with an AUROC of 0.35.
APART = ("log-normal", "anti-informative")
SHAPES = (*MARGINS, *APART)


def confidence(model: Model, right: Array, z: Array, parameter: Any) -> Array:
    """Return the confidence of decisions, or the score of labels, that are drawn apart from it."""
    if model.metric not in ("auroc", "confidence_auroc"):
        uniform = stats.norm.cdf(z)
        if model.shape == "anti-informative":
            return np.where(right, uniform, uniform ** (0.35 / 0.65))
        return np.exp(z)
    if model.shape == "log-normal":
        return np.exp(z) + np.where(right, parameter, 0.0)  # skewed, and shifted
    shape = "normal" if model.shape == "anti-informative" else model.shape
    shifted = np.where(right, parameter, 0.0)
    if shape == "hard-core":  # a tenth of the wrong ones is above all others
        return np.where(~right & (z > stats.norm.ppf(0.9)), z + 50, shifted + z)
    if shape == "three-levels":
        return np.digitize(shifted + z, [0.0, 1.0]).astype(float)
    return 0 * z if shape == "all-tied" else MARGINS[shape](z, shifted, model.value)


def sides(model: Model, chosen: Array, confident: Array) -> tuple[Array, Array]:
    """Return labels and scores from two normal numbers for each sample, and the parameter."""
    if model.metric == "auroc":
        return chosen.astype(np.int8), confident
    if model.metric == "confidence_auroc":
        # Confidence is positive and untied with zero whatever its law.
        confident = stats.norm.cdf(confident / 4) + 1e-3
    return np.int8(1), np.where(chosen, confident, -confident)


def has_margins(model: Model) -> bool:
    """Say whether one number for each sample makes its margin."""
    return "auroc" not in model.metric and model.shape in MARGINS


def draw(model: Model, first: Array, second: Array, parameter: Any) -> tuple[Array, Array]:
    """Return labels and scores from two standard normal numbers for each sample."""
    if has_margins(model):
        return np.int8(1), MARGINS[model.shape](first, parameter, model.value)
    share = model.base if "auroc" in model.metric else parameter
    chosen = first < stats.norm.ppf(share)
    return sides(model, chosen, confidence(model, chosen, second, parameter))


@cache
def parameter_of(model: Model, shifts: tuple[tuple[float, float], ...]) -> float:
    """Return the parameter that gives the value; shifts are pairs of shift and weight."""
    count = GRID // (4 if len(shifts) < 3 else len(shifts))
    grid = stats.norm.ppf((np.arange(count) + 0.5) / count)
    compares = "auroc" in model.metric
    by_share = not compares and model.shape not in MARGINS

    def value(parameter: float) -> float:
        if not by_share and not compares:
            parts = [draw(model, grid, grid, parameter + shift)[1] for shift, _ in shifts]
            weight = np.repeat([weight for _, weight in shifts], count)
            label, score = np.int8(1), np.concatenate(parts)
        else:
            share = parameter if by_share else model.base
            chosen = np.repeat([True, False], count)
            both = np.concatenate([grid, grid])
            label, score = sides(model, chosen, confidence(model, chosen, both, parameter))
            weight = np.repeat([share, 1 - share], count)
        function = getattr(lx, model.metric)
        return float(function(label, score, sample_weight=weight, threshold=0.0))

    # A step function where values are tied, which is why the root is bracketed.
    low, high = (1e-6, 1 - 1e-6) if by_share else (-30.0 if compares else -3.0, 30.0)
    return float(optimize.brentq(lambda at: value(at) - model.value, low, high, xtol=1e-6))


def design_of(name: str, size: int, correlation: float) -> Design:
    """Return a design; the size is a number of samples, or of clusters."""
    if name in ("independent", "weighted", "frequency"):
        weight = None if name == "independent" else name
        return Design(np.arange(size), weight=weight)._replace(groups=None, shift=np.zeros(size))
    if name == "strata":
        strata = np.arange(size) % 2
        return Design(strata=strata, shift=0.4 * strata)
    sizes = {
        "equal": np.full(size, 5),
        "weighted-clusters": np.full(size, 5),
        "uneven": np.linspace(1, 50, size).round().astype(int),
        "dominant": np.asarray([5 * (size - 1), *[5] * (size - 1)]),
        "informative": np.full(size, 50),
        "strata-of-clusters": np.full(size, 5),
        "frequency-clusters": np.full(size, 10),
    }[name]
    groups = np.repeat(np.arange(size), sizes)
    found = Design(groups, None, np.zeros(groups.size), None, correlation)
    if name == "weighted-clusters":
        return found._replace(weight="weighted")
    if name == "frequency-clusters":
        return found._replace(weight="frequency")
    if name == "strata-of-clusters":
        return found._replace(strata=groups % 3, shift=0.3 * (groups % 3))
    return found


DESIGNS = (
    *("independent", "weighted", "frequency", "strata", "equal", "uneven", "dominant"),
    *("informative", "weighted-clusters", "frequency-clusters", "strata-of-clusters"),
)


def size_shift(size: Array) -> Array:
    """Return how much harder a cluster of so many samples is than the others."""
    return -0.5 * (size - 25.5) / 14.4


def shifts_of(name: str, found: Design) -> tuple[tuple[float, float], ...]:
    """Return the shifts of a design, and how often each comes."""
    if name == "informative":
        sizes = np.arange(1, 51)
        return tuple(zip(size_shift(sizes).tolist(), sizes.tolist(), strict=True))
    values, counts = np.unique(found.shift, return_counts=True)
    return tuple(zip(values.tolist(), counts.tolist(), strict=True))


def correlated(rng: np.random.Generator, found: Design, shape: tuple[int, ...]) -> Array:
    """Draw standard normal numbers that share a part of their variance in each cluster."""
    own = rng.normal(0, 1, shape)
    if found.groups is None or not found.correlation:
        return own
    shared = rng.normal(0, 1, (*shape[:-1], found.groups.max() + 1))[..., found.groups]
    return np.sqrt(found.correlation) * shared + np.sqrt(1 - found.correlation) * own


class Drawn(NamedTuple):
    """A batch of data sets, and what else their intervals are given."""

    label: Array
    score: Array
    options: dict[str, Any]


def data_sets(
    rng: np.random.Generator, model: Model, name: str, found: Design, simulations: int
) -> Iterator[Drawn]:
    """Draw data sets in batches."""
    parameter = parameter_of(model, shifts_of(name, found))
    n = found.shift.size
    rows = max(1, AT_ONCE // n)
    for start in range(0, simulations, rows):
        shape = (min(rows, simulations - start), n)
        options: dict[str, Any] = {"groups": found.groups, "strata": found.strata}
        shift = found.shift
        if name == "informative":
            sizes = rng.integers(1, 51, (shape[0], found.groups.max() + 1))[..., found.groups]
            options["where"] = np.arange(n) % 50 < sizes
            shift = size_shift(sizes)
        moved = parameter + shift if has_margins(model) else parameter
        label, score = draw(
            model, correlated(rng, found, shape), correlated(rng, found, shape), moved
        )
        if found.weight == "weighted":
            options["sample_weight"] = rng.lognormal(0, 0.75, shape)
        elif found.weight == "frequency":
            label, score, options = counted(label, score, options)
        yield Drawn(label, score, options)


def counted(
    label: Array, score: Array, options: dict[str, Any]
) -> tuple[Array, Array, dict[str, Any]]:
    """Count equal samples of discrete data instead of listing them.

    Each cluster becomes a row for each label and score; rows that were not seen weigh nothing.
    """
    groups = options["groups"]
    cluster = np.zeros(score.shape[-1], dtype=int) if groups is None else groups
    label = np.broadcast_to(label, score.shape)
    cells = sorted({*zip(label.ravel().tolist(), score.ravel().tolist(), strict=True)})
    rows = [(g, *cell) for g in np.unique(cluster) for cell in cells]
    times = [
        np.sum((label == each) & (score == at) & (cluster == g), axis=-1) for g, each, at in rows
    ]
    names, labels, scores = (np.asarray(part) for part in zip(*rows, strict=True))
    options = {
        **options,
        "sample_weight": np.stack(times, axis=-1),
        "groups": None if groups is None else names,
        "weight_type": "frequency",
    }
    shape = options["sample_weight"].shape
    return np.broadcast_to(labels, shape), np.broadcast_to(scores, shape), options


def generator(*names: Any) -> np.random.Generator:
    """Return random numbers that belong to a table, whatever else is run."""
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


def cell(
    model: Model,
    name: str,
    size: int,
    correlation: float,
    level: float,
    chosen: argparse.Namespace,
) -> str:
    """Return the coverage and the mean width of one cell."""
    found = design_of(name, size, correlation)
    covered, width, defined = 0, 0.0, 0
    rng = generator(model, name, size, correlation)
    for drawn in data_sets(rng, model, name, found, chosen.simulations):
        label, score, options = drawn
        options |= {"metric": model.metric, "method": chosen.method, "threshold": 0.0}
        here = lx.interval(label, score, level=level, **options)
        known = here.low <= here.high
        defined += int(known.sum())
        covered += int(np.sum((here.low <= model.value) & (model.value <= here.high)))
        width += float(np.nansum(here.high - here.low))
    return f"{100 * covered / defined:.1f} / {width / defined:.3f}" if defined else "none"


def can_be(metric: str, shape: str, name: str, value: float) -> bool:
    """Say whether there is such a cell: not every law can have every value."""
    compares = "auroc" in metric
    if compares and shape == "all-tied":
        return False  # always 1/2, which nothing estimates
    if compares and shape in ("hard-core", "three-levels") and value > 0.9:
        return False
    if not compares and shape == "hard-core" and metric == "audrc" and value < 0.6:
        return False
    if shape in APART or compares:
        return name not in ("strata", "strata-of-clusters", "informative", "frequency-clusters")
    if name.startswith("frequency"):
        return shape in ("three-levels", "all-tied")
    return True


def coverage(chosen: argparse.Namespace) -> None:
    """Print a table for each metric, design and level."""
    for metric in chosen.metrics:
        for name in chosen.designs:
            sizes = chosen.clusters if is_clustered(name) else chosen.samples
            correlations = chosen.correlations if is_clustered(name) else [0.0]
            letter = "G" if is_clustered(name) else "n"
            for level in chosen.levels:
                for correlation in correlations:
                    inside = f", correlation {correlation} inside" if is_clustered(name) else ""
                    print(f"\n| {metric}, {name}{inside}, {level:.0%} | true | ", end="")
                    print(" | ".join(f"{letter} = {size}" for size in sizes) + " |")
                    print("|---" * (2 + len(sizes)) + "|")
                    for shape in chosen.shapes:
                        for value in chosen.values:
                            if not can_be(metric, shape, name, value):
                                continue
                            model = Model(metric, shape, value, base_of(metric, chosen.base))
                            if shape == "anti-informative" and "auroc" in metric:
                                model = model._replace(value=round(1 - value, 2))
                            cells = [
                                cell(model, name, size, correlation, level, chosen)
                                for size in sizes
                            ]
                            row = " | ".join(cells)
                            print(f"| {shape} | {model.value} | {row} |", flush=True)


def is_clustered(name: str) -> bool:
    """Say whether the size of a design is a number of clusters."""
    return name not in ("independent", "weighted", "frequency", "strata")


def base_of(metric: str, base: float) -> float:
    """Return the share of the class that decides: positives are a third."""
    return 1 / 3 if metric == "auroc" else base


def sizes_of_compare(chosen: argparse.Namespace) -> None:
    """Print how often two equally good models, alike by half, are called different."""
    for metric in chosen.metrics:
        for name in chosen.designs:
            sizes = chosen.clusters if is_clustered(name) else chosen.samples
            letter = "G" if is_clustered(name) else "n"
            print(f"\n| compare, {metric}, {name} | true | ", end="")
            print(" | ".join(f"{letter} = {size}" for size in sizes) + " |")
            print("|---" * (2 + len(sizes)) + "|")
            for shape in chosen.shapes:
                for value in chosen.values:
                    if not can_be(metric, shape, name, value) or name.startswith("frequency"):
                        continue
                    model = Model(metric, shape, value, base_of(metric, chosen.base))
                    cells = [compare_cell(model, name, size, chosen) for size in sizes]
                    print(f"| {shape} | {value} | " + " | ".join(cells) + " |", flush=True)


def compare_cell(model: Model, name: str, size: int, chosen: argparse.Namespace) -> str:
    """Return how often the test rejects, in per cent, and how often it has a p-value."""
    correlation = chosen.correlations[-1] if is_clustered(name) else 0.0
    found = design_of(name, size, correlation)
    rng = generator("compare", model, name, size)
    parameter = parameter_of(model, shifts_of(name, found))
    n, rejected, defined = found.shift.size, 0, 0
    rows = max(1, AT_ONCE // n)
    for start in range(0, chosen.simulations, rows):
        shape = (min(rows, chosen.simulations - start), n)

        def numbers(shape: tuple[int, ...] = shape) -> tuple[Array, Array]:
            shared, *own = (correlated(rng, found, shape) for _ in range(3))
            return tuple((shared + each) / np.sqrt(2) for each in own)  # type: ignore[return-value]

        (first_a, first_b), (second_a, second_b) = numbers(), numbers()
        if model.metric == "auroc":
            first_b = first_a  # both see the same labels
        moved = parameter + found.shift if has_margins(model) else parameter
        label, a = draw(model, first_a, second_a, moved)
        label, b = draw(model, first_b, second_b, moved)
        options: dict[str, Any] = {"groups": found.groups, "strata": found.strata}
        if found.weight == "weighted":
            options["sample_weight"] = rng.lognormal(0, 0.75, shape)
        p = lx.compare(label, a, b, metric=model.metric, threshold=0.0, **options).p_value
        rejected += int(np.sum(p < 0.05))
        defined += int(np.sum(~np.isnan(p)))
    return f"{100 * rejected / defined:.1f}" if defined else "none"


def family_of_models(simulations: int) -> None:
    """Print how often any of six equally good models is called different, or missed by its bounds.

    Each has 100 samples with normal margins, whose noise is partly shared.
    """
    print("\n| any of 15 pairs of 6 models | holm | max-t | not adjusted |")
    print("|---|---|---|---|")
    for value in (0.7, 0.9):
        rng = generator("family", value)
        mean = stats.norm.ppf(value) / np.sqrt(2)
        wrong = np.zeros((3, 2), dtype=int)  # adjustments; p-values and intervals
        for _ in range(simulations):
            shared = rng.normal(0, np.sqrt(0.6), 100)
            margins = mean + shared + rng.normal(0, np.sqrt(0.4), (6, 100))
            models = dict(zip("abcdef", margins, strict=True))
            for row, adjust in enumerate(("holm", "max-t", None)):
                found = lx.compare_all(1, models, adjust=adjust)
                wrong[row] += (
                    np.nanmin(found.adjusted_p_value) < 0.05,
                    bool(np.any((found.low > 0) | (found.high < 0))),
                )
        for column, what in enumerate(("called different", "interval without 0")):
            cells = " | ".join(f"{100 * count / simulations:.1f}" for count in wrong[:, column])
            print(f"| true value {value}, {what} | {cells} |")


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option, choices in (("metrics", METRICS), ("shapes", SHAPES), ("designs", DESIGNS)):
        parser.add_argument(f"--{option}", nargs="+", default=choices, choices=choices)
    for option, kind, default in (
        ("values", float, (0.55, 0.8, 0.95, 0.99)),
        ("levels", float, (0.8, 0.95, 0.99)),
        ("samples", int, (30, 100, 500)),
        ("clusters", int, (15, 60)),
        ("correlations", float, (0.1, 0.5)),
    ):
        parser.add_argument(f"--{option}", nargs="+", type=kind, default=default)
    parser.add_argument("--base", type=float, default=0.8, help="accuracy, for confidence_auroc")
    parser.add_argument("--method", default="logit+")
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--compare", action="store_true", help="sizes of compare instead")
    parser.add_argument("--family", action="store_true", help="six models at once instead")
    chosen = parser.parse_args()
    print(f"{chosen.simulations} simulations in each cell")
    if chosen.family:
        print("At 5 %, in per cent")
        family_of_models(chosen.simulations)
    elif chosen.compare:
        print("How often two equally good models are called different at 5 %, in per cent")
        sizes_of_compare(chosen)
    else:
        print("Coverage in per cent / mean width")
        coverage(chosen)


if __name__ == "__main__":
    main()
