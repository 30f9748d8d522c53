"""The search for counter-examples: a metric's values on random trials, and shrinking.

What the laws are is said in ``invariance.laws``, what a finding looks like in ``invariance``.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from lxcim_xp._arrays.namespaces import namespace
from lxcim_xp._samples.any_metric import (
    Metric,
    call,
    on_copies,
    one_value,
    rows_of,
    takes_batches,
    takes_weights,
)
from lxcim_xp._samples.decisions import Decision
from lxcim_xp.confusion import class_sensitivity
from lxcim_xp.invariance.laws import (
    LEVELS,
    Law,
    Samples,
    draw_confusions,
    draw_samples,
    score_levels,
    simpler,
)

_LARGEST = 6  # samples in a trial; most laws are refuted by two or three
_STEPS = 400  # of shrinking, at most
_XP = namespace()  # NumPy's


class Subject(NamedTuple):
    """A metric under audit, the trials it is put to and its values on them."""

    metric: Metric
    function: Metric  # the same with weights as the third argument, which may write to all three
    columns: Callable[[Any], tuple[Any, ...]]  # the arguments that a trial stands for
    batched: bool
    weighted: bool
    trials: list[Any]  # small ones first
    values: Callable[[int], Any]  # on a trial, by its place; computed when first asked for


class Pair(NamedTuple):
    """The arguments before and after an action, and the metric of both."""

    before: tuple[Any, ...]
    after: tuple[Any, ...]
    value_before: float
    value_after: float


def score_subject(
    metric: Metric, decision: Decision, trials: int, rng: np.random.Generator
) -> Subject:
    """Put a metric of labels and scores to trials of 1, 2, ... samples."""
    scores, weighted = score_levels(decision), takes_weights(metric)

    def columns(trial: Samples) -> tuple[Any, ...]:
        weight = (trial.weight.astype(float),) if (trial.weight != 1).any() else ()
        return (trial.label, scores[trial.level + LEVELS], *weight)

    kinds = (False, True) if weighted else (False,)
    rows = -(-trials // (_LARGEST * len(kinds)))
    drawn = [
        draw_samples(rng, rows, n, has_weights)
        for n in range(1, _LARGEST + 1)
        for has_weights in kinds
    ]
    return _subject(metric, partial(call, metric), columns, weighted, drawn)


def confusion_subject(metric: Metric, trials: int, rng: np.random.Generator) -> Subject:
    """Put a metric of confusion vectors to trials."""

    def columns(trial: Any) -> tuple[Any, ...]:
        return (trial.astype(float),)

    return _subject(metric, metric, columns, True, [draw_confusions(rng, trials)])


def _subject(
    metric: Metric, function: Metric, columns: Any, weighted: bool, drawn: list[Any]
) -> Subject:
    function = on_copies(function)
    batched = takes_batches(function, *columns(drawn[len(drawn) // 2]))

    @cache
    def values(place: int) -> Any:
        return _values(subject, drawn[place])

    subject = Subject(metric, function, columns, batched, weighted, drawn, values)
    return subject


def counter_example(
    subject: Subject, law: Law, rng: np.random.Generator, tolerance: float
) -> Pair | None:
    """Look for a trial on which the metric breaks the law, and shrink it."""
    for place, trial in enumerate(subject.trials):
        action = law.draw(rng, trial)
        after = _values(subject, law.apply(trial, action))
        broken = np.flatnonzero(_differ(subject.values(place), after, tolerance))
        if broken.size:
            row = int(broken[0])
            return _shrunk(subject, law, _row(trial, row), action[row : row + 1], tolerance)
    return None


def has_some_value(subject: Subject) -> bool:
    """Say whether the metric has a value on any trial."""
    return any(np.isfinite(subject.values(place)).any() for place in range(len(subject.trials)))


def without_value(subject: Subject) -> tuple[tuple[Any, ...], Exception | None] | None:
    """Return the smallest arguments for which the metric has no value, and what it raised."""
    for place, trial in enumerate(subject.trials):
        undefined = np.flatnonzero(~np.isfinite(subject.values(place)))
        if undefined.size:
            arguments = _arguments(subject, _row(trial, int(undefined[0])))
            try:
                subject.function(*arguments)
            except Exception as error:
                return arguments, error
            return arguments, None
    return None


def sensitive_confusion(subject: Subject, tolerance: float) -> tuple[Any, float] | None:
    """Return a small confusion vector at which an exchange has a derivative, and the derivative."""
    (confusions,) = subject.columns(subject.trials[0])

    def metric(vectors: Any) -> Any:
        return np.asarray([_value(subject, row) for row in rows_of(vectors)])

    derivatives = class_sensitivity(metric, confusions)
    total = confusions.sum(axis=-1)
    sensitive = np.abs(derivatives) * total[:, None] > tolerance
    if not sensitive.any():
        return None
    row = int(np.argmin(np.where(sensitive.any(axis=-1), total, np.inf)))
    return confusions[row], float(derivatives[row, np.argmax(sensitive[row])])


def _values(subject: Subject, trial: Any) -> Any:
    """Return the metric of each row, NaN where it raises."""
    columns = subject.columns(trial)
    if subject.batched:
        try:
            return np.asarray(subject.function(*columns), dtype=np.float64)
        except Exception:  # because of some row, which the loop below finds
            pass
    return np.asarray([_value(subject, row) for row in rows_of(*columns)])


def _value(subject: Subject, row: tuple[Any, ...]) -> Any:
    try:
        value = subject.function(*row)
    except Exception:  # a finding, see without_value
        return np.nan
    return one_value(_XP, value, row[0], subject.metric)


def _differ(before: Any, after: Any, tolerance: float) -> Any:
    # Where there is a value on one side only, without_value says so.
    return np.isfinite(before) & np.isfinite(after) & (np.abs(after - before) > tolerance)


def _row(trial: Any, row: int) -> Any:
    if isinstance(trial, Samples):
        return Samples(*(part[row : row + 1] for part in trial))
    return trial[row : row + 1]


def _arguments(subject: Subject, trial: Any) -> tuple[Any, ...]:
    return tuple(column[0] for column in subject.columns(trial))


def _shrunk(subject: Subject, law: Law, trial: Any, action: Any, tolerance: float) -> Pair:
    """Return a counter-example from which no step leads to a simpler one."""

    def pair(trial: Any, action: Any) -> Pair:
        before, after = trial, law.apply(trial, action)
        values = (float(_values(subject, data)[0]) for data in (before, after))
        return Pair(_arguments(subject, before), _arguments(subject, after), *values)

    best, candidates = pair(trial, action), simpler(law, trial, action)
    for _ in range(_STEPS):
        candidate = next(candidates, None)
        if candidate is None:
            break
        tried = pair(*candidate)
        if _differ(tried.value_before, tried.value_after, tolerance):
            best, candidates = tried, simpler(law, *candidate)
    return best
