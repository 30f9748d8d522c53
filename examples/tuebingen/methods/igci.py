"""IGCI: the cause has the higher entropy, if its law and the mechanism know nothing of each other.

P. Daniusis et al., "Inferring deterministic causal relations", UAI 2010; D. Janzing et al.,
"Information-geometric approach to inferring causal directions", Artificial Intelligence 182, 2012.
"""

import numpy as np
from scipy.special import digamma

from .inputs import one_variable, real_numbers, same_length, standardised


def igci(x: np.ndarray, y: np.ndarray) -> float:
    r"""Return S(x) - S(y), the difference of entropies of the standardised sides.

    .. math:: S(v) = \psi(n) - \psi(1) + \frac{1}{n - 1} \sum_i \log |v_{(i+1)} - v_{(i)}|

    where the sum leaves out ties and the divisor does not (Janzing et al. 2012, eq. 29). The
    columns of a side that has several are taken as samples of one variable, as in the published
    run.
    """
    x, y = real_numbers(x, y)
    same_length(x, y)
    x, y = (one_variable(name, side.reshape(-1), least=3) for name, side in (("x", x), ("y", y)))
    return _entropy(standardised(x)) - _entropy(standardised(y))


def _entropy(values: np.ndarray) -> float:
    gaps = np.diff(np.sort(values))
    n = values.size
    return float(digamma(n) - digamma(1) + np.log(gaps[gaps > 0]).sum() / (n - 1))
