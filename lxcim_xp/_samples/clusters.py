"""Which cluster each sample belongs to, checked and aligned with the samples."""

from typing import Any

import numpy as np

from lxcim_xp._arrays.namespaces import NUMPY, as_array, kind_of, namespace, values_are_at_hand
from lxcim_xp._arrays.primitives import first_position, move_axis
from lxcim_xp._arrays.typing import Array, Namespace, NumpyArray
from lxcim_xp._samples.errors import BadType, BadValue


def cluster_codes(
    xp: Namespace, groups: Any, score: Array, weight: Array | None, axis: int
) -> Array:
    """Return whole numbers that are equal inside a cluster, sample axis last."""
    codes = aligned_codes(xp, "groups", groups, score, weight, axis)
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


def aligned_codes(
    xp: Namespace, name: str, given: Any, score: Array, weight: Array | None, axis: int
) -> Array:
    """Return whole numbers for labels of any kind, one for each sample, sample axis last.

    Only a sample that does not count may have a missing label.
    """
    if xp is NUMPY:
        labels = np.asarray(given)
        known = ~_are_missing(labels)
        try:
            kinds, numbers = np.unique(labels[known], return_inverse=True)
        except TypeError as error:
            raise BadType(
                name,
                "must hold labels of one kind; found some that have no order ({error})",
                "Make words of them.",
                error=str(error),
            ) from error
        missing = len(kinds)
        codes: NumpyArray = np.full(labels.shape, missing)
        codes[known] = numbers.reshape(-1)
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
        codes = xp.broadcast_to(codes, score.shape)
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} must have one entry for each sample; found shape {tuple(codes.shape)} for "
            f"samples of shape {tuple(score.shape)}."
        ) from error
    if xp is NUMPY and not known.all():
        bad = codes == missing if weight is None else (codes == missing) & (weight != 0)
        position = first_position(move_axis(xp, bad, -1, axis))
        if position is not None:
            raise BadValue(
                name,
                "must hold a label for each sample; found a missing one {place}",
                "Pass {where:=} to leave such samples out.",
                position=position,
            )
    return codes


def _are_missing(labels: NumpyArray) -> NumpyArray:
    """Say which labels are NaN, NaT, None or pandas' NA."""
    if labels.dtype.kind != "O":
        return labels != labels
    return np.array([_is_missing(label) for label in labels.flat], bool).reshape(labels.shape)


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # NA is not even unequal to itself
        return True
