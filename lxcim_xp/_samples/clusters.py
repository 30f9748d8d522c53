"""Which cluster each sample belongs to, checked and aligned with the samples."""

from typing import Any

import numpy as np

from lxcim_xp._arrays.namespaces import NUMPY, as_array, kind_of, namespace, values_are_at_hand
from lxcim_xp._arrays.primitives import move_axis
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray
from lxcim_xp._samples.errors import BadValue


def cluster_codes(xp: Namespace, groups: Any, score: Array, axis: int) -> Array:
    """Return whole numbers that are equal inside a cluster, sample axis last."""
    codes = aligned_codes(xp, "groups", groups, score, axis)
    if (
        values_are_at_hand(xp)
        and codes.shape[-1]
        and not (codes.min(axis=-1) < codes.max(axis=-1)).all()
    ):
        raise BadValue(
            "groups",
            "must hold at least two clusters; found one",
            "A single cluster says nothing about the spread between clusters: leave {groups} out "
            "if samples are independent.",
        )
    return codes


def aligned_codes(xp: Namespace, name: str, given: Any, score: Array, axis: int) -> Array:
    """Return whole numbers for labels of any kind, one for each sample, sample axis last."""
    if xp is NUMPY:
        labels = np.asarray(given)
        codes: NumpyArray = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
    else:
        namespace(y_score=score, **{name: given})
        codes = as_array(xp, given, score)
        if kind_of(xp, codes.dtype) != "integral":
            raise TypeError(
                f"{name} must hold integers; found dtype {codes.dtype}. Number the {name} from 0."
            )
    if axis not in (-1, codes.ndim - 1) and codes.ndim > 1:
        codes = move_axis(xp, codes, axis, -1)
    try:
        return xp.broadcast_to(codes, score.shape)
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} must have one entry for each sample; found shape {tuple(codes.shape)} for "
            f"samples of shape {tuple(score.shape)}."
        ) from error
