"""Random samples for property-based tests of metrics; needs Hypothesis.

>>> from hypothesis import given, settings
>>> from lxcim_xp import lxcim
>>> from lxcim_xp.testing import samples
>>> @settings(max_examples=20, database=None)
... @given(samples())
... def test_my_metric_is_a_share(sample):
...     assert 0 <= lxcim(*sample[:2], sample_weight=sample.sample_weight) <= 1
>>> test_my_metric_is_a_share()

:func:`lxcim_xp.assert_lxc_invariant` tests for invariance without Hypothesis.
"""

import numpy as np
from hypothesis import strategies as st

from lxcim_xp.invariance import Sample


def scores(threshold: float = 0.0) -> st.SearchStrategy[float]:
    """Draw scores with many ties and hits of the threshold, and now and then an infinite one.

    Parameters
    ----------
    threshold : float, default 0.0
        The score around which to draw.

    Returns
    -------
    SearchStrategy of float
        Multiples of 1/8 from the threshold. With a threshold of few binary digits, they, their
        sums and their mirror images are exact in float32 and float64; with another, like 0.3, they
        are rounded, and a metric that subtracts the threshold breaks ties when it is exchanged.

    Examples
    --------
    >>> from hypothesis import find
    >>> from lxcim_xp.testing import scores
    >>> 2 < find(scores(0.5), lambda score: 2 < score < 9) < 9
    True
    """
    near = st.integers(-3, 3).map(lambda k: threshold + k)
    wide = st.integers(-64, 64).map(lambda k: threshold + k / 8)
    return st.one_of(near, wide, st.sampled_from([float("inf"), float("-inf"), threshold, -0.0]))


_scores = scores  # for :func:`samples`, which has an argument of that name


def samples(
    *,
    min_size: int = 1,
    max_size: int = 12,
    threshold: float = 0.0,
    labels: st.SearchStrategy[float] | None = None,
    scores: st.SearchStrategy[float] | None = None,
    weights: st.SearchStrategy[float] | None = None,
) -> st.SearchStrategy[Sample]:
    """Draw labelled, scored and weighted samples.

    Parameters
    ----------
    min_size, max_size : int, default 1 and 12
        The least and the largest number of samples.
    threshold : float, default 0.0
        The score around which scores are drawn.
    labels : SearchStrategy of float, optional
        Where labels come from: 0 or 1 by default. Shares of votes stand beside other scores than 0
        and 1 alone, where they would be taken for scores.
    scores : SearchStrategy of float, optional
        Where scores come from, :func:`scores` by default.
    weights : SearchStrategy of float, optional
        Where weights come from: quarters from 0 to 3 by default. At least one is not zero.

    Returns
    -------
    SearchStrategy of Sample
        Tuples of arrays ``y_true``, ``y_score`` and ``sample_weight``.

    Examples
    --------
    >>> from hypothesis import find
    >>> from lxcim_xp.testing import samples
    >>> sample = find(samples(max_size=4), lambda sample: sample.y_true.sum() == 2)
    >>> sample.y_true.shape == sample.y_score.shape == sample.sample_weight.shape
    True
    """
    if not 1 <= min_size <= max_size:
        raise ValueError(
            f"min_size must lie between 1 and max_size; found {min_size} and {max_size}."
        )
    score = _scores(threshold) if scores is None else scores
    weight = st.integers(0, 12).map(lambda k: k / 4) if weights is None else weights
    label = st.integers(0, 1) if labels is None else labels
    rows = st.lists(st.tuples(label, score, weight), min_size=min_size, max_size=max_size)
    found = rows.filter(lambda rows: any(row[2] for row in rows)).map(
        lambda rows: Sample(*(np.asarray(column) for column in zip(*rows, strict=True)))
    )
    return found if labels is None else found.filter(_is_no_swap)


def _is_no_swap(sample: Sample) -> bool:
    """Say whether labels are not taken for scores, because the scores look like labels."""
    is_split = (sample.y_true > 0) & (sample.y_true < 1)
    present = set(sample.y_score[sample.sample_weight > 0].tolist())
    return not is_split.any() or present != {0.0, 1.0}
