"""The laws that an audit tries: random trials, what is done to them, and how they get simpler.

A trial is a batch of small data sets in whole numbers, one per row. A law draws an action for each
row and applies it; the metric must not notice. Scores are drawn as levels of confidence, 0 at the
threshold and -k the mirror image of k, so that ties and threshold hits are frequent;
``score_levels`` says which scores they stand for. What is undecided has two names as well: written
the other way, a sample at the threshold stays there and has the other label.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.namespaces import namespace
from lxcim_xp._arrays.typing import NumpyArray
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.errors import SAY_HOW_SCORES_MIRROR, BadValue
from lxcim_xp._samples.mirror import mirrors
from lxcim_xp.confusion import exchange_confusion

LEVELS = 20  # of confidence, on each side
_CANDIDATES = 250  # scores tried as levels
_DRAWN = 5  # of them in a trial; the others are where a map may send them


class Samples(NamedTuple):
    """Rows of labelled, scored, weighted samples."""

    label: Any  # (rows, n), 0 or 1
    level: Any  # (rows, n), -LEVELS .. LEVELS
    weight: Any  # (rows, n), whole numbers, not all zero


class Law(NamedTuple):
    """What may be done to a trial without changing a metric that obeys the law."""

    statement: str
    draw: Callable[[np.random.Generator, Any], Any]  # an action for each row of a trial
    apply: Callable[[Any, Any], Any]  # the trial after the action
    per_sample: bool = False  # whether the action has an entry for each sample
    shrinkable: bool = False  # whether an action with a smaller entry is a simpler one
    weighted: bool = False  # whether the law is about weights


def score_levels(decision: Decision) -> Any:
    """Return the 2 LEVELS + 1 scores that the levels stand for, by decision.

    They are drawn on the side of the threshold towards zero, where floats are denser, so that their
    mirror images are rounded: whole numbers around a whole threshold have exact mirror images,
    tenths around another one and shares of a domain do not. For a function of the caller's, scores
    are preferred that have exactly the confidence of their mirror image: otherwise an exchange
    breaks ties, which is not the metric's fault.
    """
    threshold = float(decision.threshold)
    side = -1 if threshold > 0 else 1
    if decision.domain is not None:
        reach = abs(decision.domain[max(side, 0)] - threshold)
    else:
        reach = _CANDIDATES if threshold.is_integer() else _CANDIDATES / 10
    candidate: NumpyArray = threshold + side * reach * np.arange(1, _CANDIDATES) / _CANDIDATES
    xp = namespace(score=candidate)
    mirrored, fits = mirrors(xp, decision, candidate)
    usable = np.flatnonzero(fits)
    if not decision.trusted:
        confidence, opposite = (
            decision.signed(xp, score, decision.threshold, *decision.parameters)
            for score in (candidate, mirrored)
        )
        exact = np.flatnonzero(fits & (confidence == -opposite))
        usable = exact if exact.size >= LEVELS else usable
    # The nearest ones if every score is legal; otherwise some from all over the domain.
    stride = 1 if decision.domain is None else max(1, usable.size // LEVELS)
    chosen = usable[stride - 1 :: stride][:LEVELS]
    if chosen.size < LEVELS:
        raise BadValue(
            "decision",
            "has mirror scores for too few of the scores beside its threshold ({few} of {tried} "
            "tried)",
            SAY_HOW_SCORES_MIRROR,
            few=chosen.size,
            tried=candidate.size,
        )
    below, above = (candidate, mirrored) if side < 0 else (mirrored, candidate)
    return np.concatenate([below[chosen[::-1]], [threshold], above[chosen]])


def draw_samples(rng: np.random.Generator, rows: int, n: int, weighted: bool) -> Samples:
    """Draw rows of n samples."""
    weight = rng.integers(0, 5, (rows, n)) if weighted else np.ones((rows, n), dtype=int)
    weight[:, 0] += (weight == 0).all(axis=-1)  # at least one sample must count
    return Samples(
        rng.integers(0, 2, (rows, n)), rng.integers(-_DRAWN, _DRAWN + 1, (rows, n)), weight
    )


def draw_confusions(rng: np.random.Generator, rows: int) -> Any:
    """Draw rows of confusion vectors with something in each cell."""
    return rng.integers(1, 10, (rows, 4))


def _exchange(samples: Samples, which: Any) -> Samples:
    flipped = which > 0
    return samples._replace(
        label=np.where(flipped, 1 - samples.label, samples.label),
        level=np.where(flipped, -samples.level, samples.level),
    )


def _permute(samples: Samples, key: Any) -> Samples:
    order = np.argsort(key, axis=-1)
    return Samples(*(np.take_along_axis(part, order, axis=-1) for part in samples))


def _increasing(rng: np.random.Generator, rows: int, size: int, choices: int) -> Any:
    """Draw ``size`` of ``range(choices)`` for each row, in order."""
    return np.sort(np.argsort(rng.random((rows, choices)), axis=-1)[:, :size], axis=-1)


def _draw_confidence_map(rng: np.random.Generator, samples: Samples) -> Any:
    steps = _increasing(rng, len(samples.level), _DRAWN, LEVELS) + 1
    return np.concatenate([np.zeros((len(steps), 1), dtype=int), steps], axis=-1)


def _map_confidence(samples: Samples, table: Any) -> Samples:
    mapped = np.take_along_axis(table, np.abs(samples.level), axis=-1)
    return samples._replace(level=np.sign(samples.level) * mapped)


def _draw_score_map(rng: np.random.Generator, samples: Samples) -> Any:
    return _increasing(rng, len(samples.level), 2 * _DRAWN + 1, 2 * LEVELS + 1) - LEVELS


def _map_score(samples: Samples, table: Any) -> Samples:
    return samples._replace(level=np.take_along_axis(table, samples.level + _DRAWN, axis=-1))


def _coins(rng: np.random.Generator, samples: Samples) -> Any:
    return rng.integers(0, 2, samples.label.shape)


def _everywhere(rng: np.random.Generator, samples: Samples) -> Any:
    return np.ones_like(samples.label)


def _sort_keys(rng: np.random.Generator, samples: Samples) -> Any:
    return rng.random(samples.label.shape)


def _factors(rng: np.random.Generator, trial: Any) -> Any:
    rows = len(trial.label) if isinstance(trial, Samples) else len(trial)
    return rng.choice([2, 3, 10], (rows, 1))


def _scale_weights(samples: Samples, factor: Any) -> Samples:
    return samples._replace(weight=samples.weight * factor)


def _duplicate(samples: Samples, factor: Any) -> Samples:
    return Samples(*(np.concatenate([part, part], axis=-1) for part in samples))


def _draw_absent(rng: np.random.Generator, samples: Samples) -> Any:
    """Draw a label and a level for each row."""
    rows = len(samples.label)
    return np.stack([rng.integers(0, 2, rows), rng.integers(-_DRAWN, _DRAWN + 1, rows)], axis=-1)


def _add_absent(samples: Samples, absent: Any) -> Samples:
    added = (absent[:, :1], absent[:, 1:], np.zeros_like(absent[:, :1]))
    return Samples(*(np.concatenate(parts, axis=-1) for parts in zip(samples, added, strict=True)))


def _draw_moves(rng: np.random.Generator, confusion: Any) -> Any:
    """Draw how much an exchange moves, at most what the cells hold."""
    tp, fp, fn, tn = confusion.T
    return np.stack([rng.integers(-tp, tn + 1), rng.integers(-fn, fp + 1)], axis=-1)


def _move(confusion: Any, moved: Any) -> Any:
    return exchange_confusion(confusion, moved[:, 0], moved[:, 1])


def _swap(confusion: Any, factor: Any) -> Any:
    return exchange_confusion(confusion)


def _scale(confusion: Any, factor: Any) -> Any:
    return confusion * factor


SCORE_LAWS = {
    "lxc": Law("any samples written the other way", _coins, _exchange, True, True),
    "class_swap": Law("all samples written the other way", _everywhere, _exchange, True),
    "permutation": Law("another order of the samples", _sort_keys, _permute, True),
    "confidence_map": Law(
        "a strictly increasing map of the confidence", _draw_confidence_map, _map_confidence
    ),
    "score_map": Law("a strictly increasing map of the score", _draw_score_map, _map_score),
    "weight_scale": Law(
        "all weights multiplied by one number", _factors, _scale_weights, weighted=True
    ),
    "zero_weight": Law(
        "a sample of weight zero added", _draw_absent, _add_absent, shrinkable=True, weighted=True
    ),
    "duplication": Law("each sample twice", _factors, _duplicate),
}

# "class_insensitivity" is a statement about derivatives and not about two data sets.
CONFUSION_LAWS = {
    "lxc": Law("weight moved between TP and TN, FP and FN", _draw_moves, _move, shrinkable=True),
    "class_swap": Law("TP swapped with TN, FP with FN", _factors, _swap),
    "weight_scale": Law("all cells multiplied by one number", _factors, _scale),
}


def simpler(law: Law, trial: Any, action: Any) -> Iterator[tuple[Any, Any]]:
    """Yield simpler trials of one row, those with fewer samples first."""
    if isinstance(trial, Samples):
        yield from _fewer_samples(law, trial, action)
        if (trial.weight != 1).any():
            yield trial._replace(weight=np.ones_like(trial.weight)), action
    if law.shrinkable:
        for less in _closer_to(0, action):
            yield trial, less
    if isinstance(trial, Samples):
        for level in _closer_to(np.sign(trial.level[0]), trial.level):
            yield trial._replace(level=level), action
    else:
        for smaller in _closer_to(1, trial):
            if not law.shrinkable or _can_move(smaller, action):
                yield smaller, action


def _fewer_samples(law: Law, trial: Samples, action: Any) -> Iterator[tuple[Samples, Any]]:
    n = trial.label.shape[-1]
    for at in range(n if n > 1 else 0):
        fewer = Samples(*(np.delete(part, at, axis=-1) for part in trial))
        yield fewer, np.delete(action, at, axis=-1) if law.per_sample else action


def _closer_to(target: Any, entries: Any) -> Iterator[Any]:
    """Yield copies of one row in which one entry is a step closer to its target."""
    steps = np.sign(target - entries[0])
    for at in np.flatnonzero(steps):
        closer = entries.copy()
        closer[0, at] += steps[at]
        yield closer


def _can_move(confusion: Any, moved: Any) -> bool:
    tp, fp, fn, tn = confusion[0]
    return bool(-tp <= moved[0, 0] <= tn and -fn <= moved[0, 1] <= fp)
