"""What every method asks of a pair before it looks at it, and the scales that they put it on."""

import numpy as np


class NoAnswer(ValueError):
    """Why a method has nothing to say about a pair."""


def two_variables(x: np.ndarray, y: np.ndarray, least: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides as vectors of floats, or raise what is wrong with them.

    Sides with several columns, too few samples and constants are pairs that a method cannot answer
    (:class:`NoAnswer`); sides of different lengths, with missing values or of anything but real
    numbers are mistakes of the caller (``ValueError``).
    """
    sides = []
    for name, side in zip("xy", real_numbers(x, y), strict=True):
        if side.ndim > 1 and side.size != len(side):
            raise NoAnswer(
                f"{name} has shape {side.shape}; this method takes one variable on each side."
            )
        sides.append(one_variable(name, side.reshape(-1), least))
    same_length(*sides)
    return sides[0], sides[1]


def real_numbers(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides as arrays of floats, or raise what else they hold; masked is missing."""
    sides = []
    for name, side in (("x", x), ("y", y)):
        try:
            array = np.atleast_1d(np.ma.asarray(side))
            if array.dtype.kind not in "biufO":
                raise TypeError
            sides.append(array.astype(float).filled(np.nan))
        except (TypeError, ValueError):  # ragged lists, words among objects
            raise ValueError(f"{name} must hold real numbers; found {side!r:.80}.") from None
    return sides[0], sides[1]


def same_length(x: np.ndarray, y: np.ndarray) -> None:
    """Raise if there are more samples of one side than of the other."""
    if len(x) != len(y):
        raise ValueError(f"x and y must have the same length; found {len(x)} and {len(y)}.")


def one_variable(name: str, values: np.ndarray, least: int) -> np.ndarray:
    """Return the values of one variable, or raise what is wrong with them."""
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise ValueError(
            f"{name} must be finite; found {values[wrong[0]]} at position {wrong[0]}. "
            "Drop the samples without a value."
        )
    if values.size < least:
        raise NoAnswer(f"{values.size} samples are too few; this method takes {least} or more.")
    if values.min() == values.max():
        raise NoAnswer(f"{name} is constant.")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        variance = values.var()
    if not np.finfo(float).tiny <= variance < np.inf:
        raise NoAnswer(f"The variance of {name} is beyond the range of floats; change its unit.")
    return values


def first_two_columns(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first two columns of x and y side by side.

    This is what the authors' R code sees of a pair whose sides have several columns: if x has two,
    both of them are parts of the cause.
    """
    x, y = real_numbers(x, y)
    same_length(x, y)
    columns = np.column_stack([x, y])
    return columns[:, 0], columns[:, 1]


def standardised(values: np.ndarray) -> np.ndarray:
    """Return the values with mean 0 and standard deviation 1."""
    return (values - values.mean()) / values.std()


def min_max(values: np.ndarray) -> np.ndarray:
    """Return the values on the scale from 0 to 1."""
    return (values - values.min()) / np.ptp(values)
