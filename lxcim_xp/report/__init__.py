"""A report of predictions as one HTML page that needs nothing else (``pip install lxcim_xp[cli]``).

A frame of predictions goes in, with the names of its columns; a page comes out as a string: the
metrics with their intervals, what they say in words, an interactive curve, subgroups, comparisons,
the reject option, what is odd about the data, and how each number was computed. The same input
gives the same page, byte for byte. No number is computed here; other modules do that. A content
security policy keeps the page from loading or running anything but itself.

>>> import pandas as pd
>>> from lxcim_xp import report
>>> games = pd.DataFrame({"won": [1, 0, 1, 1], "margin": [4.0, -3.0, -1.0, 2.0]})
>>> page = report.html(games, label="won", scores="margin", title="Four games")
>>> page.splitlines()[0]
'<!doctype html>'
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from lxcim_xp import __version__
from lxcim_xp._arrays.namespaces import moves_constants
from lxcim_xp._metric_table import IN_FRAMES, METRICS
from lxcim_xp._samples.checks import check_level
from lxcim_xp._samples.decisions import Decision
from lxcim_xp._samples.option_types import NanPolicy, Ties
from lxcim_xp.frames.reading import result_columns
from lxcim_xp.report import wording
from lxcim_xp.report.both_orders import orders_of
from lxcim_xp.report.chart import chart_of, cursor_of, style
from lxcim_xp.report.code import code_of
from lxcim_xp.report.data_notes import data_notes
from lxcim_xp.report.facts import headline, pairs_of, subgroups_of
from lxcim_xp.report.predictions import predictions_of
from lxcim_xp.report.reject_option import DELTA, points_of

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

_MANY = 24  # a table with more rows than this scrolls in a box of its own and has a filter


@moves_constants
def html(
    frame: Any,
    *,
    label: str | None,
    scores: str | Sequence[str | tuple[str, str]],
    swapped: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] = (),
    level: float = 0.95,
    groups: str | None = None,
    threshold: float = 0.0,
    decision: Decision | None = None,
    positive: Any = None,
    negative: Any = None,
    ties: Ties = "error",
    nan_policy: NanPolicy = "raise",
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
        The column of labels: booleans, 0/1, -1/+1, shares of votes between 0 and 1, or anything
        with ``positive=``. None: the scores are margins of the right side over the wrong one, and
        AUROC has no value.
    scores : str or sequence of str or of pairs of str
        The column of scores, which grow with the belief in the positive side; or several columns,
        for several models on the same rows, of which the first gets the headline. A pair in this
        sequence is a score too, the difference of two columns: see
        :func:`lxcim_xp.choices.difference`.
    swapped : str, optional
        The column of scores of a judge in the other order, beside one column of scores, see
        :func:`lxcim_xp.frames.orders`. The page then has a section about both orders.
    weight : str, optional
        The column of weights, finite and not negative. A row of weight 0 counts as absent.
    by : str or sequence of str, default ()
        The columns whose values make a subgroup; null is a value like any other. Without them, the
        whole frame is one group.
    level : float, default 0.95
        The coverage of intervals, between 0 and 1.
    groups : str, optional
        The column of clusters, when only clusters are independent; intervals allow for them.
    threshold : float, default 0.0
        The score at which the decision changes sides; a score equal to it is undecided.
    decision : Decision, optional
        A decision function to use instead of the distance from ``threshold``, see
        :mod:`lxcim_xp.decision`.
    positive : str, number or bool, optional
        The positive label; the one other label is negative. Labels that are words need it.
    negative : str, number or bool, optional
        The negative label, beside ``positive``, where there are more than two.
    ties : {"error", "omit", "half"}, default "error"
        What to do with a row whose label is neither ``positive`` nor ``negative``: raise an error,
        leave it out, or count it as a draw, half right whatever was decided.
    nan_policy : {"raise", "omit", "abstain"}, default "raise"
        What to do with a missing value (null or NaN): raise an error, leave the row out for all
        models, or, if it is the score, count the sample as undecided.
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
    All models are evaluated on the same rows. An undecided sample counts half right everywhere, and
    every interval is that of :func:`lxcim_xp.interval`. Guarantees of the reject option count
    independent samples: with weights or groups its tables have none.

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
    given = predictions_of(
        frame,
        label=label,
        scores=scores,
        weight=weight,
        by=by,
        groups=groups,
        positive=positive,
        negative=negative,
        ties=ties,
        threshold=threshold,
        decision=decision,
        nan_policy=nan_policy,
        outputs=result_columns(IN_FRAMES, level),
    )
    both_orders = orders_of(frame, given, swapped, label=label, level=level)
    reading = given.reading
    chosen, clustered = reading.parts.decision, groups is not None
    tell(next(stage))
    headlines = [headline(each, level, has_labels=reading.has_labels) for each in given.models]
    tell(next(stage))
    # Guarantees count independent samples, so there are none with weights or clusters.
    vouch = not clustered and weight is None
    points = [points_of(each, chosen, level, vouch=vouch) for each in given.models]
    tell(next(stage))
    pairs = pairs_of(given, level)
    tell(next(stage))
    subgroups = subgroups_of(given, level)
    tell(next(stage))
    notes = data_notes(given, headlines)
    tell(next(stage))
    return _page(
        title=title,
        n_rows=len(reading.rows),
        n=given.n,
        weight_total=float(reading.table.counts["weight"].sum()),
        parts=reading.parts,
        has_labels=reading.has_labels,
        level=level,
        vouch=vouch,
        delta=DELTA,
        many=_MANY,
        headlines=headlines,
        words=wording.in_words(headlines[0], points[0].coin_rate, level, clustered=clustered),
        others=[(each.name, wording.decomposed(each)) for each in headlines[1:]],
        on_auroc=wording.on_auroc(
            headlines[0].auroc.value,
            headlines[0].namings,
            has_labels=reading.has_labels,
            is_confidence=headlines[0].is_confidence,
        ),
        curves=chart_of(points),
        cursor=cursor_of(points),
        points=points,
        pairs=pairs,
        on_pairs=wording.on_pairs(pairs, level),
        subgroups=subgroups,
        both_orders=both_orders,
        metrics={name: METRICS[name].heading for name in IN_FRAMES},
        notes=notes,
        decision=wording.decision_words(chosen),
        calls="\n\n".join([code_of(given, level), *([both_orders.call] if both_orders else [])]),
        command=command,
        version=__version__,
    )


def _digest(text: str) -> str:
    """Return the hash by which a content security policy admits the page's own style or script."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _page(**facts: Any) -> str:
    folder = files("lxcim_xp.report") / "page"
    template, css, script = (
        (folder / name).read_text(encoding="utf-8")
        for name in ("report.html.jinja", "report.css", "report.js")
    )
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    for word in ("number", "signed", "significant", "percent", "p_value", "scores_of", "key_text"):
        environment.filters[word] = getattr(wording, word)
    environment.filters |= {"style": style, "digest": _digest}
    return environment.from_string(template).render(css=css, script=script, **facts)
