"""Ask of any metric whether it is invariant, and get a counter-example when it is not.

The metric may be ours, another library's or a lambda. An audit tries it on small random data sets
and on what each law makes of them; it can refute a law, and its silence is evidence, not proof.
A method that says which of two variables is the cause is audited on pairs of the caller.

>>> from lxcim_xp import audit, auroc, describe, lxcim
>>> audit(lxcim)["lxc"].holds
True
>>> print(describe(audit(auroc)["lxc"]))
lxc: any samples written the other way should not change the metric, but
  y_true = [1, 1, 0], y_score = [-1, 1, -2]: 1
  y_true = [0, 1, 0], y_score = [1, 1, -2]: 0.75
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from lxcim_xp._samples.any_metric import Metric, name_of
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.errors import BadValue
from lxcim_xp._samples.samples import one_decision
from lxcim_xp.invariance.laws import CONFUSION_LAWS, SCORE_LAWS
from lxcim_xp.invariance.methods import (
    STATEMENTS,
    MethodSubject,
    method_subject,
    try_law,
)
from lxcim_xp.invariance.search import (
    Subject,
    confusion_subject,
    counter_example,
    has_some_value,
    score_subject,
    sensitive_confusion,
    without_value,
)

LAWS = {
    "scores": (*SCORE_LAWS, "defined"),
    "confusion": (*CONFUSION_LAWS, "class_insensitivity", "defined"),
}
_SHOWN = 8  # values of a variable; of more rows, half as many from both ends


class Sample(NamedTuple):
    """Labels, scores and weights of a counter-example.

    Parameters
    ----------
    y_true : array of {0, 1}
        Labels.
    y_score : array
        Scores.
    sample_weight : array or None
        Weights; None when the metric was called without.

    Examples
    --------
    >>> from lxcim_xp import audit, auroc
    >>> audit(auroc)["lxc"].counter_example.before.sample_weight is None
    True
    """

    y_true: Any
    y_score: Any
    sample_weight: Any = None


class Variables(NamedTuple):
    """The two variables of a counter-example, in the order in which the method got them.

    Parameters
    ----------
    x, y : array of shape (n,)
        The variables, row by row.

    Examples
    --------
    >>> from lxcim_xp import audit_method
    >>> found = audit_method(lambda x, y: 1.0, [([1.0, 2.0], [3.0, 5.0])])
    >>> found["antisymmetry"].counter_example.before
    Variables(x=array([2.]), y=array([5.]))
    """

    x: Any
    y: Any


class CounterExample(NamedTuple):
    """Two data sets that a law calls equal, and the two values of the metric.

    Parameters
    ----------
    before, after : Sample, Variables or array
        The data; confusion vectors for ``kind="confusion"``.
    value_before, value_after : float
        The metric of each, or the score of a method. For the law "class_insensitivity" the
        derivative along an exchange that the law asks for, which is 0, and the one that was found.

    Examples
    --------
    >>> from lxcim_xp import audit, confusion
    >>> found = audit(confusion.f1, kind="confusion")["lxc"].counter_example
    >>> found.before, found.after
    (array([1., 1., 1., 1.]), array([2., 1., 1., 0.]))
    """

    before: Any
    after: Any
    value_before: float
    value_after: float


class Finding(NamedTuple):
    """What an audit found about one law.

    Parameters
    ----------
    law : str
        The name of the law.
    statement : str
        What must not change the metric; for a method, the law in words.
    holds : bool or None
        Whether no counter-example was found; None when the law could not be tried.
    counter_example : CounterExample or None
        The smallest counter-example found.
    remark : str
        Why the law could not be tried, or what the metric raised; for a method, how many pairs
        break the law.

    Examples
    --------
    >>> from lxcim_xp import audit, lxcim
    >>> audit(lxcim)["permutation"].statement
    'another order of the samples'
    """

    law: str
    statement: str
    holds: bool | None
    counter_example: CounterExample | None = None
    remark: str = ""


def audit(
    metric: Metric,
    *,
    kind: Literal["scores", "confusion"] = "scores",
    threshold: float = 0.0,
    decision: Decision | None = None,
    laws: Sequence[str] | None = None,
    trials: int = 120,
    seed: int | np.random.Generator = 0,
    tolerance: float = 1e-5,
) -> dict[str, Finding]:
    """Try the laws of invariance on a metric, and look for the smallest counter-example to each.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_score)`` for lists of labels 0/1 and scores, or ``metric(confusion)`` for
        vectors [TP, FP, FN, TN]. It gets NumPy arrays of its own and returns one number; it is
        called on many data sets at once if it can be. If it takes ``sample_weight=``, weights are
        tried too, zeros among them.
    kind : {"scores", "confusion"}, default "scores"
        What the metric is a function of.
    threshold : float, default 0.0
        The threshold at which the metric decides: scores are drawn around it.
    decision : Decision, optional
        The decision function of the metric, which says what an exchange does: ``probability()``
        for a metric of probabilities. The metric itself has to know it already.
    laws : sequence of str, optional
        The laws to try, all by default.
    trials : int, default 120
        The number of data sets for each law.
    seed : int or numpy.random.Generator, default 0
        Where the data sets come from.
    tolerance : float, default 1e-5
        The largest difference that counts as equal.

    Returns
    -------
    dict of str to Finding
        For ``kind="scores"`` the laws "lxc" (local exchange of classes), "class_swap" (all of them:
        I1), "permutation", "confidence_map", "score_map", "weight_scale", "zero_weight" (one more
        sample, of weight zero) and "duplication"; for ``kind="confusion"`` "lxc", "class_swap",
        "class_insensitivity" and "weight_scale"; and "defined", which fails with the smallest input
        on which the metric raises or is NaN.

    See Also
    --------
    assert_lxc_invariant : The same as a test.
    describe : A finding in words.
    audit_table : Several audits as a table.

    Notes
    -----
    A sample at the threshold has two names as well: written the other way it has the other label,
    and a metric that calls one of them right and the other wrong is not invariant. One that gives
    half credit, or none, to what is undecided is invariant.

    Mirror images of scores are rounded. A metric that subtracts a threshold itself breaks ties by
    this; ours do not, with ``decision.absolute`` or ``threshold=``.

    Examples
    --------
    >>> from lxcim_xp import audit, auroc
    >>> [law for law, finding in audit(auroc).items() if not finding.holds]
    ['lxc', 'defined']
    """
    if kind not in LAWS:
        raise ValueError(f"kind must be one of {tuple(LAWS)}; found {kind!r}.")
    if trials < 1:
        raise ValueError(f"trials must be at least 1; found {trials}.")
    wanted = LAWS[kind] if laws is None else tuple(laws)
    for law in wanted:
        if law not in LAWS[kind]:
            raise ValueError(f"laws must be among {LAWS[kind]} for kind={kind!r}; found {law!r}.")
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a metric warns about, it shows as a NaN
        if kind == "scores":
            subject = score_subject(metric, one_decision(threshold, decision), trials, rng)
        else:
            subject = confusion_subject(metric, trials, rng)
        _require_some_value(subject)
        return {law: _finding(subject, kind, law, rng.spawn(1)[0], tolerance) for law in wanted}


def audit_method(
    method: Callable[[Any, Any], Any],
    pairs: Iterable[Any],
    *,
    laws: Sequence[str] | None = None,
    calls: int = 100,
    seed: int | np.random.Generator = 0,
    tolerance: float = 1e-6,
) -> dict[str, Finding]:
    """Try the laws of causal discovery on a method, and look for the smallest counter-examples.

    Parameters
    ----------
    method : callable
        ``method(x, y)`` for two arrays of floats, copies of its own. It returns a number, or an
        array of one, that is positive when x causes y and larger the more certain that is. None,
        NaN, infinity and an exception are no answer.
    pairs : iterable
        Pairs ``(x, y)`` of two lists or arrays of one length, or items that have them as fields
        ``x`` and ``y``, whatever else they have. "Right" means that x is the cause.
    laws : sequence of str, optional
        The laws to try, all by default.
    calls : int, default 100
        The most calls that may be spent on making one counter-example smaller; 0 leaves each pair
        as it is.
    seed : int or numpy.random.Generator, default 0
        Where scales, shifts, reflections and orders come from. They depend on the pair and not on
        its place among the others.
    tolerance : float, default 1e-6
        The largest difference that counts as equal, relative to the larger of the two scores, or
        to the median size of the scores of all pairs if that is more.

    Returns
    -------
    dict of str to Finding
        The laws "antisymmetry" (x and y swapped: the same score with the other sign),
        "orientation" (x and y swapped: the same cause), "affine" (each variable shifted, and
        multiplied by a positive number), "reflection" (one variable negated), "permutation"
        (another order of the rows) and "answer" (a finite number in both orientations). A remark
        says how many pairs break the law, and how many signs are not those that it asks for;
        counter-examples hold :class:`lxcim_xp.invariance.Variables`.

    See Also
    --------
    audit : The same for metrics.
    describe : A finding in words.
    audit_table : Several audits as a table.

    Notes
    -----
    Most collections of pairs store the cause first. There a method that always says "x" is right
    about every pair, and right about half of them once a coin has chosen which variable is shown
    first. The remark of "orientation" has both shares; an undecided pair counts half in them, and
    one that lacks an answer in either orientation is left out. The law holds if they agree for
    every choice of pairs, so that errors of two pairs cannot cancel.

    The method is called twice for each pair, once more for each of "affine", "reflection" and
    "permutation", and up to ``calls`` times for each law that it breaks. One that draws random
    numbers breaks all laws unless it draws the same ones in every call.

    Scales are powers of two from 1/1024 to 1024, and shifts are powers of two about as large as
    the range: these lose no digits, or few. A shift after which different values would tie is left
    out.

    An answer before or after a change only is a breach of its law too. Pairs that have no answer
    at all concern "answer" alone. Its counter-example is made smaller only while the method
    answers another pair of so many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lxcim_xp import audit_method, describe
    >>> def more_variance(x, y):
    ...     return np.var(x) - np.var(y)
    >>> pairs = [([2.0, 4.0, 6.0], [0.0, 2.0, 1.0]), ([5.0, 7.0, 8.0, 8.0], [0.0, 2.0, 2.0, 4.0])]
    >>> found = audit_method(more_variance, pairs)
    >>> [law for law, finding in found.items() if not finding.holds]
    ['affine']
    >>> print(describe(found["affine"]))
    affine: fails, 2 of 2 pairs, 2 signs (positive scales and shifts leave the score as it is)
      x = [4, 6], y = [2, 1]: 0.75
      x = [4, 6], y = [16, 8]: -15
    """
    rng = np.random.default_rng(seed)
    wanted = tuple(STATEMENTS) if laws is None else tuple(laws)
    for position, law in enumerate(wanted):
        if law not in STATEMENTS:
            raise BadValue(
                "laws",
                "must be among {known}; found {law!r} {place}",
                position=position,
                known=tuple(STATEMENTS),
                law=law,
            )
    if calls < 0:
        raise BadValue(
            "calls",
            "must not be negative; found {found}",
            "Pass 0 to leave counter-examples as they are.",
            found=calls,
        )
    if not 0 <= tolerance < np.inf:
        raise BadValue(
            "tolerance",
            "must be finite and not negative; found {found}",
            "Pass 0 if scores must be equal to the last digit.",
            found=tolerance,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a method warns about, its answer shows
        subject = method_subject(method, pairs, tolerance, calls, rng)
        return {law: _method_finding(subject, law) for law in wanted}


def assert_lxc_invariant(metric: Metric, **options: Any) -> None:
    """Fail with a counter-example unless a metric is invariant to local exchange of classes.

    Parameters
    ----------
    metric : callable
        The metric, see :func:`audit`.
    **options : Any
        Options of :func:`audit`, such as ``kind``, ``decision`` and ``trials``.

    Raises
    ------
    AssertionError
        With the smallest counter-example found.

    Examples
    --------
    >>> from lxcim_xp import assert_lxc_invariant, lxcim
    >>> assert_lxc_invariant(lxcim)
    """
    finding = audit(metric, laws=["lxc"], **options)["lxc"]
    if not finding.holds:
        raise AssertionError(
            f"{name_of(metric)} is not invariant to local exchange of classes.\n{describe(finding)}"
        )


def describe(finding: Finding) -> str:
    """Say in words what an audit found about one law.

    Parameters
    ----------
    finding : Finding
        One of the values that :func:`audit` or :func:`audit_method` returns.

    Returns
    -------
    str
        One line, or with the counter-example two or three.

    Examples
    --------
    >>> from lxcim_xp import audit, describe, lxcim
    >>> print(describe(audit(lxcim)["permutation"]))
    permutation: holds (another order of the samples)
    """
    law, statement, holds, example, remark = finding
    if holds is None:
        return f"{law}: not tried, {remark}"
    if holds:
        return f"{law}: holds ({statement})"
    assert example is not None
    if isinstance(example.before, Variables):
        return _describe_breach(finding, example)
    if law == "defined":
        return f"defined: no value for {_show(example.before)}{remark and f', {remark}'}"
    if law == "class_insensitivity":
        return (
            f"{law}: {statement} at {_show(example.before)} "
            f"should be 0, but is {example.value_after:g}"
        )
    return (
        f"{law}: {statement} should not change the metric, but\n"
        f"  {_show(example.before)}: {example.value_before + 0.0:g}\n"
        f"  {_show(example.after)}: {example.value_after + 0.0:g}"  # + 0.0: no -0
    )


def audit_table(audits: dict[str, dict[str, Finding]]) -> str:
    """Write several audits as a Markdown table, one row for each metric or method.

    Parameters
    ----------
    audits : dict of str to dict of str to Finding
        The name of each metric and what :func:`audit` returned for it, all of one kind; or the name
        of each method and what :func:`audit_method` returned.

    Returns
    -------
    str
        A table with "yes" where a law holds, "no" where it does not and "-" where it was not tried.

    Examples
    --------
    >>> from lxcim_xp import audit, audit_table, confusion
    >>> names = ["accuracy", "f1"]
    >>> found = {name: audit(getattr(confusion, name), kind="confusion") for name in names}
    >>> print(audit_table(found))
    | metric   | lxc | class_swap | weight_scale | class_insensitivity | defined |
    |----------|-----|------------|--------------|---------------------|---------|
    | accuracy | yes | yes        | yes          | yes                 | yes     |
    | f1       | no  | no         | yes          | no                  | yes     |
    """
    if not audits:
        raise ValueError("audits must hold at least one audit; found none.")
    first = next(iter(audits.values()))
    laws = list(first)
    of_methods = all(STATEMENTS.get(law) == first[law].statement for law in laws)
    heading = "method" if laws and of_methods else "metric"
    width = max(len(heading), *(len(name) for name in audits))
    lines = [
        " | ".join([f"| {heading:{width}}", *laws]) + " |",
        "|".join([f"|{'-' * (width + 2)}", *("-" * (len(law) + 2) for law in laws)]) + "|",
    ]
    words = {True: "yes", False: "no", None: "-"}
    for name, findings in audits.items():
        cells = [f"{words[findings[law].holds]:{len(law)}}" for law in laws]
        lines.append(" | ".join([f"| {name:{width}}", *cells]) + " |")
    return "\n".join(lines)


def _finding(
    subject: Subject, kind: str, law: str, rng: np.random.Generator, tolerance: float
) -> Finding:
    if law == "defined":
        return _definedness(subject)
    if law == "class_insensitivity":
        return _sensitivity(subject, tolerance)
    rule = (SCORE_LAWS if kind == "scores" else CONFUSION_LAWS)[law]
    if rule.weighted and not subject.weighted:
        return Finding(law, rule.statement, None, remark="the metric takes no sample_weight")
    pair = counter_example(subject, rule, rng, tolerance)
    if pair is None:
        return Finding(law, rule.statement, True)
    example = CounterExample(_sample(pair.before), _sample(pair.after), *pair[2:])
    return Finding(law, rule.statement, False, example)


def _definedness(subject: Subject) -> Finding:
    statement = "a value for every input"
    found = without_value(subject)
    if found is None:
        return Finding("defined", statement, True)
    sample, error = _sample(found[0]), found[1]
    remark = "" if error is None else f"raised {type(error).__name__}: {error}"
    return Finding(
        "defined", statement, False, CounterExample(sample, sample, *[np.nan] * 2), remark
    )


def _sensitivity(subject: Subject, tolerance: float) -> Finding:
    statement = "the derivative along an exchange"
    found = sensitive_confusion(subject, tolerance)
    if found is None:
        return Finding("class_insensitivity", statement, True)
    confusion, derivative = found
    example = CounterExample(confusion, confusion, 0.0, derivative)
    return Finding("class_insensitivity", statement, False, example)


def _method_finding(subject: MethodSubject, law: str) -> Finding:
    holds, pair, remark = try_law(subject, law)
    example = None
    if pair is not None:
        example = CounterExample(Variables(*pair.before), Variables(*pair.after), *pair[2:])
    return Finding(law, STATEMENTS[law], holds, example, remark)


def _require_some_value(subject: Subject) -> None:
    if has_some_value(subject):
        return
    arguments, error = without_value(subject) or ((), None)
    what = "is NaN" if error is None else "raised"
    raise BadValue(
        "metric",
        "{what} on every input, first on {sample}{reason}",
        "Check what it takes, and {kind:=}.",
        what=what,
        sample=_show(_sample(arguments)),
        reason="" if error is None else f": {error!r}",
    ) from error


def _sample(arguments: tuple[Any, ...]) -> Any:
    """Return the arguments of a metric of scores as a sample, a confusion vector as it is."""
    return arguments[0] if len(arguments) == 1 else Sample(*arguments)


def _describe_breach(finding: Finding, example: CounterExample) -> str:
    """Say which law a method breaks, with the scores to more digits than its tolerance."""
    shown = ((example.before, example.value_before), (example.after, example.value_after))
    lines = [
        f"  {_show_variables(variables)}: {value + 0.0:.8g}"  # + 0.0: no -0
        for variables, value in shown[: 1 if finding.law == "answer" else 2]
    ]
    return "\n".join([f"{finding.law}: fails, {finding.remark} ({finding.statement})", *lines])


def _show_variables(variables: Variables) -> str:
    rows = len(variables.x)
    if rows <= _SHOWN:
        return f"x = {_list(variables.x)}, y = {_list(variables.y)}"
    half = _SHOWN // 2
    ends = (
        f"{name} = {_list(side[:half])[:-1]}, ..., {_list(side[-half:])[1:]}"
        for name, side in zip("xy", variables, strict=True)
    )
    return f"{', '.join(ends)}, {rows} rows"


def _show(sample: Any) -> str:
    if not isinstance(sample, Sample):
        return f"[TP, FP, FN, TN] = {_list(sample)}"
    return ", ".join(
        f"{name} = {_list(values)}"
        for name, values in zip(sample._fields, sample, strict=True)
        if values is not None
    )


def _list(values: Any) -> str:
    return f"[{', '.join(f'{value:g}' for value in values)}]"
