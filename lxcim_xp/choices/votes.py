"""What no model can do better than, where the people who labelled the samples disagree.

A share of votes is a label, which every metric takes. What is here says how much of an error rate
is theirs.
"""

from __future__ import annotations

from typing import NamedTuple

from lxcim_xp._arrays.namespaces import as_array, default_float, kind_of, moves_constants, namespace
from lxcim_xp._arrays.typing import Array, ArrayLike
from lxcim_xp._samples import formulas
from lxcim_xp._samples.gain import gain_of
from lxcim_xp._samples.samples import collect, finish_all, positive_share


class Ceiling(NamedTuple):
    """The best that any model can reach, as :func:`ceiling` returns it.

    Parameters
    ----------
    accuracy : array
        The accuracy of deciding with the majority.
    lxcim : array
        The LxCIM of deciding so with the lead of the majority as confidence.

    Examples
    --------
    >>> from lxcim_xp.choices import ceiling
    >>> ceiling([1, 0]).lxcim
    np.float64(1.0)
    """

    accuracy: Array
    lxcim: Array


@moves_constants
def ceiling(
    y_true: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    where: ArrayLike | None = None,
    axis: int = -1,
) -> Ceiling:
    """Return the best accuracy and the best LxCIM that any model can reach on shares of votes.

    Whoever decides against two of three voters agrees with one third of them, and even a model that
    knows the votes cannot agree with all. Report a metric beside its ceiling, so that disagreement
    among people is not blamed on the model.

    Parameters
    ----------
    y_true : array of {0, 1}, {-1, +1} or bool, or of shares of votes, or one such label
        Whether the positive side was the right one; between 0 and 1, the share of the votes for it.
        Broadcasts against ``y_score``: with ``y_true=1`` the scores are margins of the right side
        over the wrong one.
    sample_weight : array, optional
        Weights, finite and not negative. A sample of weight 0 counts as absent.
    where : array of bool, optional
        The samples that count; the others (padding, for example) may hold anything.
    axis : int, default -1
        The axis of the samples, after broadcasting.

    Returns
    -------
    Ceiling
        ``accuracy`` and ``lxcim`` for each batch entry; both are 1 where nobody disagrees.

    See Also
    --------
    lxcim_xp.lxcim : What of this a model reaches.

    Notes
    -----
    The best score is the share less one half. Of each pair of samples LxCIM counts the votes that
    the more confident decision agrees with, and here that is the larger of two majorities.

    Examples
    --------
    Three voters each; they agree on two samples of four:

    >>> from lxcim_xp.choices import ceiling
    >>> ceiling([1, 0, 2 / 3, 1 / 3])
    Ceiling(accuracy=np.float64(0.8333333333333334), lxcim=np.float64(0.9166666666666667))
    """
    xp = namespace(y_true=y_true, sample_weight=sample_weight, where=where)
    label = as_array(xp, y_true)
    if label.ndim == 0:
        raise ValueError(
            "y_true must have at least one axis; found a single number. Pass one share of votes "
            "for each sample."
        )
    is_float = kind_of(xp, label.dtype) == "real floating"
    score = xp.zeros_like(label, dtype=label.dtype if is_float else default_float(xp, label))
    xp, samples = collect(y_true, score, sample_weight=sample_weight, where=where, axis=axis)
    gain = gain_of(xp, samples._replace(score=positive_share(xp, samples) - 0.5))
    parts = formulas.accuracy(xp, gain), formulas.lxcim(xp, gain)
    return Ceiling(*finish_all(xp, samples, *parts))
