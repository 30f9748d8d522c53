"""Two numbers in place of one score: the reward of each answer, for example."""

from typing import Any

from lxcim_xp._arrays.namespaces import (
    as_array,
    default_float,
    kind_of,
    moves_constants,
    namespace,
    scalar_if_numpy,
    widest_float,
)
from lxcim_xp._arrays.typing import Array, ArrayLike, Namespace
from lxcim_xp._samples.differences import difference_of_arrays


@moves_constants
def difference(first: ArrayLike, second: ArrayLike) -> Array:
    """Return ``first - second`` such that equal differences of decimals tie.

    Numbers that are written with few digits are no sums of powers of two, and raw subtraction gives
    0.3 - 0.2 and 0.4 - 0.3 two values. Here both numbers are read as the decimals they are written
    as, and the result is the float nearest to the difference of these.

    Parameters
    ----------
    first, second : array
        The numbers to subtract, of shapes that broadcast: of the chosen and of the rejected answer,
        for example, or of the best answer and the next.

    Returns
    -------
    array
        The differences, in the widest float of the library. They are margins, if the first number
        is that of the right answer.

    Notes
    -----
    A float64 is read as the decimal of at most 15 significant digits that it stands for, and a
    float32 as one of 6, if there is one. Digits are counted from the first one of the larger
    number. Then the difference is that of the decimals, rounded once: equal differences are equal,
    and others differ unless no float lies between them. Numbers with more digits, like most
    outputs of a model, are subtracted as floats. Exchanging both changes the sign and nothing else.

    Examples
    --------
    >>> from lxcim_xp.choices import difference
    >>> [0.3 - 0.2, 0.4 - 0.3]
    [0.09999999999999998, 0.10000000000000003]
    >>> difference([0.3, 0.4], [0.2, 0.3])
    array([0.1, 0.1])
    """
    xp = namespace(first=first, second=second)
    like: Any = next((x for x in (first, second) if hasattr(x, "dtype")), None)
    a, b = xp.broadcast_arrays(
        _floats(xp, "first", first, like), _floats(xp, "second", second, like)
    )
    return scalar_if_numpy(xp, difference_of_arrays(xp, a, b))


def _floats(xp: Namespace, name: str, value: ArrayLike, like: Array | None) -> Array:
    array = as_array(xp, value, like)
    if kind_of(xp, array.dtype) == "other":
        raise TypeError(f"{name} must hold real numbers; found dtype {array.dtype}.")
    if kind_of(xp, array.dtype) == "real floating":
        return array
    return xp.astype(array, widest_float(xp, xp.astype(array, default_float(xp, array))))
