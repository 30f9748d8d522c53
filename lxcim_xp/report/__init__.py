"""A report of predictions as one HTML page that needs nothing else (``pip install lxcim_xp[cli]``).

A frame of predictions goes in, with the names of its columns; a page comes out as a string: the
metrics with their intervals, what they say in words, an interactive curve, subgroups, comparisons,
the reject option, what is odd about the data, and how each number was computed. The same input
gives the same page, byte by byte. Numbers come from the other modules; here they are put together.

>>> import pandas as pd
>>> from lxcim_xp import report
>>> games = pd.DataFrame({"won": [1, 0, 1, 1], "margin": [4.0, -3.0, -1.0, 2.0]})
>>> page = report.html(games, label="won", scores="margin", title="Four games")
>>> page.splitlines()[0]
'<!doctype html>'
"""

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

from lxcim_xp import __version__, _report_words
from lxcim_xp._checks import check_level
from lxcim_xp._data_notes import data_notes
from lxcim_xp._docs import documented
from lxcim_xp._engines import METRICS
from lxcim_xp._report_calls import code_of
from lxcim_xp._report_chart import chart_of, cursor_of, style
from lxcim_xp._report_facts import headline, pairs_of, subgroups_of
from lxcim_xp._report_points import DELTA, points_of
from lxcim_xp._report_samples import read_predictions
from lxcim_xp.decision import Decision

try:
    import jinja2
except ImportError as error:  # pragma: no cover
    raise ImportError(
        "lxcim_xp.report needs jinja2. Install it with: pip install 'lxcim_xp[cli]'"
    ) from error

STEPS = (
    "reading the columns",
    "metrics and intervals",
    "curves and thresholds",
    "comparing models",
    "subgroups",
    "looking at the data",
    "writing the page",
)

_METRIC_NAMES = {"lxcim": "LxCIM", "accuracy": "Accuracy", "audrc": "AUDRC", "auroc": "AUROC"}


@documented
def html(
    frame: Any,
    *,
    label: str | None,
    scores: str | Sequence[str],
    weight: str | None = None,
    by: str | Sequence[str] = (),
    threshold: float = 0.0,
    decision: Decision | None = None,
    positive: Any = None,
    nan_policy: str = "raise",
    level: float = 0.95,
    groups: str | None = None,
    title: str = "Predictions",
    command: str | None = None,
    step: Callable[[str], object] | None = None,
) -> str:
    """Return a report of predictions as one HTML page.

    Parameters
    ----------
    frame : frame
        A frame of any kind in the table of docs/frames.md. Of a lazy one, the columns that are
        needed are collected.
    label : str or None
        The column of labels: booleans, 0/1, -1/+1, or anything with ``positive=``. None: the
        scores are margins of the right side over the wrong one, and AUROC has no value.
    scores : str or sequence of str
        The column of scores, which grow with the belief in the positive side; several for several
        models on the same rows, of which the first has the headline.
    <FRAME_GROUPS>
    threshold : float, default 0.0
        The score at which the decision changes sides; a score that hits it is undecided.
    decision : Decision, optional
        A decision function other than the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`.
    positive : str, number or bool, optional
        The label that is positive; all others are negative. Words need it.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What a missing value (null, or NaN) is: an error, a row to leave out for all models, or, if
        it is the score, an undecided sample.
    level : float, default 0.95
        The coverage of the intervals, between 0 and 1.
    groups : str, optional
        The column of clusters, when only clusters are independent.
    title : str, default "Predictions"
        The title of the page.
    command : str, optional
        The command that makes the page, to be shown on it.
    step : callable, optional
        ``step(name)`` is called before each stage, with each name of ``STEPS`` in turn.

    Returns
    -------
    str
        The page. Write it to a file with the encoding UTF-8 and open that: it loads nothing else.

    See Also
    --------
    lxcim_xp.frames.evaluate : The metrics as a frame.

    Notes
    -----
    All models are evaluated on the same rows. Guarantees of the reject option count independent
    samples: with weights or groups its tables have none.

    Examples
    --------
    >>> import pandas as pd
    >>> from lxcim_xp import report
    >>> games = pd.DataFrame({"margin": [4.0, 3.0, -1.0, 2.0]})
    >>> page = report.html(games, label=None, scores="margin")
    >>> "Of 100 decisions 75 are right." in page
    True
    """
    check_level(level)
    tell = (lambda name: None) if step is None else step
    stage = iter(STEPS)
    tell(next(stage))
    given = read_predictions(
        frame,
        label=label,
        scores=scores,
        weight=weight,
        by=by,
        groups=groups,
        positive=positive,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
    )
    chosen, clustered = given.parts.decision, groups is not None
    tell(next(stage))
    headlines = [headline(each, level, has_labels=given.has_labels) for each in given.models]
    tell(next(stage))
    # What counts samples as independent of each other says nothing about weighted ones or clusters.
    exact = None if clustered or weight is not None else level
    points = [points_of(each, chosen, exact) for each in given.models]
    tell(next(stage))
    pairs = pairs_of(given.models, level)
    tell(next(stage))
    subgroups = subgroups_of(given, level)
    tell(next(stage))
    notes = data_notes(given, headlines)
    tell(next(stage))
    return _page(
        title=title,
        n_rows=len(given.rows),
        n=given.n,
        weight_total=float(given.table.counts["weight"].sum()),
        parts=given.parts,
        has_labels=given.has_labels,
        level=level,
        exact=exact is not None,
        delta=DELTA,
        headlines=headlines,
        words=_report_words.in_words(headlines[0], points[0].coin_rate, level, clustered=clustered),
        others=[(each.name, _report_words.decomposed(each)) for each in headlines[1:]],
        on_auroc=_report_words.on_auroc(headlines[0].auroc, has_labels=given.has_labels),
        curves=chart_of(points),
        cursor=cursor_of(points),
        points=points,
        pairs=pairs,
        on_pairs=_report_words.on_pairs(pairs, level),
        subgroups=subgroups,
        metrics={name: _METRIC_NAMES[name] for name in METRICS},
        notes=notes,
        decision=_report_words.decision_words(chosen),
        calls=code_of(given, level),
        command=command,
        version=__version__,
    )


def _page(**facts: Any) -> str:
    folder = files("lxcim_xp") / "_report_page"
    template, css, script = (
        (folder / name).read_text(encoding="utf-8")
        for name in ("report.html.jinja", "report.css", "report.js")
    )
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    for word in ("number", "signed", "significant", "percent", "p_value", "scores_of", "key_text"):
        environment.filters[word] = getattr(_report_words, word)
    environment.filters["style"] = style
    return environment.from_string(template).render(css=css, script=script, **facts)
