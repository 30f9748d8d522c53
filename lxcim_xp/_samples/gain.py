"""The sums that LxCIM is made of: first the definition, then the fast forms that replace it.

With c the credit of a sample, w its weight, L the weight below its confidence and T the weight tied
with it, the paper's sum is LxCIM = sum c w (2L + T) / W^2. Pairs of two right decisions contribute
(sum c w)^2 whatever their order, which leaves the pairs of a right and a wrong decision. Where
votes are split, a decision is right with the weight c w and wrong with the rest. So

    LxCIM = (right^2 + 2 won) / (right + wrong)^2

with three sums of terms that are never negative, so that small weights keep their digits.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

from lxcim_xp._arrays.namespaces import NUMPY, from_numpy, seen_by_numpy, widest_float
from lxcim_xp._arrays.primitives import float_bits, signed_by
from lxcim_xp._arrays.typing import Array, Namespace
from lxcim_xp._numerics import numpy_unweighted, numpy_weighted
from lxcim_xp._numerics.ordering import block_bounds, concordance, has_integer_keys, rank
from lxcim_xp._samples.samples import (
    Samples,
    classes,
    collect,
    confidence,
    credit,
    signed_confidence,
    weights,
)


class Gain(NamedTuple):
    """The weight of right decisions, of wrong ones, and of the pairs that right ones win."""

    right: Array
    wrong: Array
    won: Array  # pairs in which a right one is more confident than a wrong one; ties half


# NumPy weights of 32 bits stay as they are: the fast form widens them piece by piece, in the cache.
collect_for_gain = partial(collect, narrow_weights=True)

FastForm: TypeAlias = Callable[[Namespace, Samples, Array], Gain | None]


def gain_of(xp: Namespace, samples: Samples) -> Gain:
    """Return the sums that LxCIM is made of, by the first form that can handle the samples."""
    signed = signed_confidence(xp, samples)
    if samples.share is None and has_integer_keys(xp, signed):
        for fast_form in FAST_FORMS:
            found = fast_form(xp, samples, signed)
            if found is not None:
                return found
    return portable_gain(xp, samples, signed)


def portable_gain(xp: Namespace, samples: Samples, signed: Array) -> Gain:
    """Sum up the right, the wrong, and the wrong ones that lie below each right one."""
    weight = xp.astype(weights(xp, samples), widest_float(xp, signed), copy=False)
    right = credit(xp, samples, signed) * weight
    wrong = weight - right
    won = concordance(xp, *rank(xp, confidence(xp, samples, signed), right, wrong))
    return Gain(xp.sum(right, axis=-1), xp.sum(wrong, axis=-1), won)


def _of_numpy(xp: Namespace, samples: Samples, signed: Array) -> Gain | None:
    """Store labels in bits of the keys or weights, so that no array of margins is needed."""
    if xp is not NUMPY:
        return None
    if samples.weight is None:
        return Gain(*numpy_unweighted.uniform_gain(signed, samples.label))
    return Gain(*numpy_weighted.weighted_gain(signed, samples.weight, samples.label))


def _of_tensors_in_memory(xp: Namespace, samples: Samples, signed: Array) -> Gain | None:
    """Let NumPy sort: torch's sort always returns the order too, which makes it slower."""
    if samples.weight is not None:
        return None
    seen, label = seen_by_numpy(xp, signed), seen_by_numpy(xp, samples.label)
    if seen is None or label is None:
        return None
    gain = numpy_unweighted.uniform_gain(seen, label)
    return Gain(*(from_numpy(xp, part, signed) for part in gain))


def _of_integer_keys(xp: Namespace, samples: Samples, signed: Array) -> Gain | None:
    """Count in sorted integers, which needs no order if all weights are equal."""
    if samples.weight is not None:
        return None
    value = signed_by(xp, samples.label, signed)
    wide, bits = widest_float(xp, value), float_bits(xp, value)
    lowest = xp.iinfo(bits.dtype).min
    # The sign moves from the top bit to the bottom one: (|m|, wrong) in one integer, so that the
    # sort has no second operand. Flipping the top bit turns signed order into unsigned order.
    key = xp.sort(((bits << 1) | xp.astype(bits < 0, bits.dtype)) ^ lowest, axis=-1)
    # Margins of zero, of either sign, have the two lowest keys.
    wrong = xp.where(key <= lowest + 1, 0.5, xp.astype(key & 1, wide))
    confidence = key | 1
    first, end = block_bounds(xp, confidence[..., 1:] != confidence[..., :-1], xp.int32)
    n = value.shape[-1]
    total = xp.sum(wrong, axis=-1)
    pairs = (n - total) * total
    lead = xp.sum(wrong * xp.astype(n - first - end, wide), axis=-1)
    # Counts beyond the digits of float32 are rounded, and must stay within the possible range.
    return Gain(n - total, total, xp.clip((pairs + lead) / 2, 0.0, pairs))


# Tried in this order in place of the portable form, where float bits can be read. Each returns the
# sums of the portable form, bit for bit where they are exact, or None if it cannot handle the
# samples.
FAST_FORMS: tuple[FastForm, ...] = (_of_numpy, _of_tensors_in_memory, _of_integer_keys)


def pairs_won(xp: Namespace, samples: Samples) -> tuple[Array, Array]:
    """Return the weight of pairs whose positive scores higher, ties half, and of all pairs."""
    whole = samples.weight is None and samples.share is None
    if xp is NUMPY and whole and has_integer_keys(xp, samples.score):
        counted = numpy_unweighted.uniform_concordance(samples.score, samples.label)
        if counted is not None:
            return counted
    return portable_pairs_won(xp, samples)


def portable_pairs_won(xp: Namespace, samples: Samples) -> tuple[Array, Array]:
    """Return the same by the definition of Mann and Whitney."""
    positive, negative = classes(xp, samples)
    pairs = xp.sum(positive, axis=-1) * xp.sum(negative, axis=-1)
    return concordance(xp, *rank(xp, samples.score, positive, negative)), pairs
