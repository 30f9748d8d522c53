"""The effect inside the bins of the presumed cause, as CDS and CDCI look at it.

Both methods cut the cause into bins, turn the effect inside each bin into a histogram, and ask how
much these histograms differ. A bin is half a standard deviation wide.
"""

import numpy as np

from .inputs import NoAnswer, standardised

STEPS = 2  # bins per standard deviation
REACH = 3  # standard deviations on each side of the mean; the outermost bins take the rest
LEAST_SAMPLES = 13  # in a bin of the cause, to make a histogram of the effect there
BINS = 2 * STEPS * REACH + 1


def has_few_values(values: np.ndarray) -> bool:
    """Return whether a variable has no more distinct values than there are bins."""
    return np.unique(values).size <= BINS


def binned(values: np.ndarray) -> np.ndarray:
    """Return the bin of each value, from 0 to 12, with the value 0 in the middle one."""
    edge = STEPS * REACH
    return np.clip(np.round(values * STEPS), -edge, edge).astype(int) + edge


def shares(codes: np.ndarray, size: int = BINS) -> np.ndarray:
    """Return the share of the samples that has each of the codes 0, 1, ..., size - 1."""
    return np.bincount(codes, minlength=size) / codes.size


def effect_by_cause(cause: np.ndarray, effect: np.ndarray) -> list[np.ndarray]:
    """Return the effect in each bin of the cause that has enough samples.

    The values of a cause that has only few are its bins. Any other is standardised once more by
    the mean and deviation of its values within three standard deviations.
    """
    bins = cause if has_few_values(cause) else binned(_standardised_by_centre(cause))
    values, counts = np.unique(bins, return_counts=True)
    if counts.max() < LEAST_SAMPLES:
        raise NoAnswer(f"No bin of one variable holds {LEAST_SAMPLES} samples.")
    return [effect[bins == value] for value in values[counts >= LEAST_SAMPLES]]


def _standardised_by_centre(values: np.ndarray) -> np.ndarray:
    values = standardised(values)
    central = values[np.abs(values) < REACH]
    if np.ptp(central) == 0:
        raise NoAnswer(f"All values within {REACH} standard deviations are the same.")
    return (values - central.mean()) / central.std()
