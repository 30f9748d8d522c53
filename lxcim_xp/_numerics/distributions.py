"""Tails and quantiles of the normal and of Student's t distribution, in array operations.

The standard has neither ``erfc`` nor the incomplete beta function. The normal distribution is taken
from Cody's and Wichura's rational approximations. Student's is an integral of a smooth, log-concave
function, which one fixed rule of quadrature gives to all digits whatever the degrees of freedom
are. Small tails have full relative accuracy; nothing loops over the data.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from lxcim_xp._arrays.loops import compiled_once, repeat
from lxcim_xp._arrays.namespaces import array_like, device_of, values_are_at_hand
from lxcim_xp._arrays.typing import Array, Namespace

# fmt: off
# W. J. Cody, "Algorithm 715: SPECFUN", ACM TOMS 19 (1993), function ANORM; highest power first.
_CENTRE = (
    (0.065682337918207449113, 2.2352520354606839287, 161.02823106855587881,
     1067.6894854603709582, 18154.981253343561249),
    (1.0, 47.20258190468824187, 976.09855173777669322, 10260.932208618978205,
     45507.789335026729956),
)
_SHOULDER = (
    (1.0765576773720192317e-8, 0.39894151208813466764, 8.8831497943883759412,
     93.506656132177855979, 597.27027639480026226, 2494.5375852903726711,
     6848.1904505362823326, 11602.651437647350124, 9842.7148383839780218),
    (1.0, 22.266688044328115691, 235.38790178262499861, 1519.377599407554805,
     6485.558298266760755, 18615.571640885098091, 34900.952721145977266,
     38912.003286093271411, 19685.429676859990727),
)
_FAR = (
    (0.02307344176494017303, 0.21589853405795699, 0.1274011611602473639,
     0.022235277870649807, 0.001421619193227893466, 2.9112874951168792e-5),
    (1.0, 1.28426009614491121, 0.468238212480865118, 0.0659881378689285515,
     0.00378239633202758244, 7.29751555083966205e-5),
)
# M. J. Wichura, "Algorithm AS 241", Applied Statistics 37 (1988), PPND16; highest power first.
_QUANTILE_CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
     45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
     133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061,
     21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
     42.313330701600911252, 1.0),
)
_QUANTILE_SHOULDER = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
     4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
     2.05319162663775882187, 1.0),
)
_QUANTILE_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
     0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358,
     5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
     0.59983220655588793769, 1.0),
)
# fmt: on

_NEWTON_STEPS = 12
# Step, first and last place of the quadrature: 63 places, for 14 digits.
_RULE = (1 / 8, -3.75, 4.0)


def upper_tail(xp: Namespace, z: Array) -> Array:
    """Return P(Z >= z) of a standard normal Z."""
    size = xp.abs(z)
    near = xp.where(size < 0.66291, size, 0.0)
    centre = 0.5 - near * _ratio(xp, _CENTRE, near * near)
    shoulder = _ratio(xp, _SHOULDER, xp.where(size < 5.65, size, 1.0))
    inverse = 1 / xp.where(size < 5.65, 5.65, size)
    square = inverse * inverse
    far = inverse * (1 / math.sqrt(2 * math.pi) - square * _ratio(xp, _FAR, square))
    tail = _bell(xp, size) * xp.where(size < 5.65, shoulder, far)
    tail = xp.where(size < 0.66291, centre, tail)
    return xp.where(z < 0, 1 - tail, tail)


def density(xp: Namespace, z: Array) -> Array:
    """Return the density of the standard normal distribution."""
    return _bell(xp, z) / math.sqrt(2 * math.pi)


def quantile(xp: Namespace, p: Array) -> Array:
    """Return z with P(Z <= z) = p; infinite at 0 and 1, NaN outside of them.

    For an upper tail of p take ``-quantile(xp, p)``, which has all digits of a small p.
    """
    centred = p - 0.5
    inside = (p > 0) & (p < 1)
    outer = xp.where(inside, xp.where(centred < 0, p, 1 - p), 0.25)
    root = xp.sqrt(-xp.log(outer))
    near = xp.where(xp.abs(centred) <= 0.425, centred, 0.0)
    centre = near * _ratio(xp, _QUANTILE_CENTRE, 0.180625 - near * near)
    shoulder = _ratio(xp, _QUANTILE_SHOULDER, xp.where(root <= 5, root, 5.0) - 1.6)
    far = _ratio(xp, _QUANTILE_FAR, xp.where(root <= 5, 5.0, root) - 5)
    size = xp.where(root <= 5, shoulder, far)
    z = xp.where(xp.abs(centred) <= 0.425, centre, xp.where(centred < 0, -size, size))
    return _with_ends(xp, p, inside, z)


def t_upper_tail(xp: Namespace, t: Array, df: Array | float) -> Array:
    """Return P(T >= t) of Student's t with ``df`` > 0 degrees of freedom; NaN for others.

    With infinitely many it is the normal distribution, here and below.
    """
    return compiled_once(xp, _t_upper_tail, t, array_like(xp, df, t))


def t_two_sided(xp: Namespace, t: Array, df: Array | float) -> Array:
    """Return P(|T| >= |t|) of Student's t with ``df`` degrees of freedom."""
    return 2 * t_upper_tail(xp, xp.abs(t), df)


def t_quantile(xp: Namespace, p: Array, df: Array | float) -> Array:
    """Return t with P(T <= t) = p; as accurate for small p as :func:`quantile`."""
    return compiled_once(xp, _t_quantile, p, array_like(xp, df, p))


def _ratio(xp: Namespace, coefficients: tuple[Sequence[float], Sequence[float]], x: Array) -> Array:
    above, below = (xp.full_like(x, powers[0]) for powers in coefficients)
    for coefficient in coefficients[0][1:]:
        above = above * x + coefficient
    for coefficient in coefficients[1][1:]:
        below = below * x + coefficient
    return above / below


def _bell(xp: Namespace, z: Array) -> Array:
    """Return exp(-z^2 / 2); the square of a few leading bits is exact, and loses no digits."""
    size = xp.abs(z)
    size = xp.where(size < 1e4, size, 1e4)  # from there on the result is zero
    leading = xp.floor(16 * size) / 16
    return xp.exp(-leading * leading / 2) * xp.exp(-(size - leading) * (size + leading) / 2)


def _with_ends(xp: Namespace, p: Array, inside: Array, quantile: Array) -> Array:
    """Put the infinities at 0 and 1 around quantiles, and NaN where p is no probability."""
    ends = xp.where(p == 0, -xp.inf, xp.where(p == 1, xp.inf, xp.full_like(p, xp.nan)))
    return xp.where(inside, quantile, ends)


def _t_upper_tail(xp: Namespace, t: Array, df: Array) -> Array:
    """Integrate the density after t = sqrt(df) sinh(y), where it is cosh(y)^-df over a constant."""
    valid, finite = df > 0, df < xp.inf
    df = xp.where(valid & finite, df, 1.0)
    size = xp.abs(t)
    size = xp.where(size < xp.inf, size, 1.0)
    root = xp.sqrt(df)
    scaled = size / root
    # log cosh y and tanh y; the squares must not overflow.
    large = scaled > 1e9
    square = xp.where(large, 0.0, scaled) ** 2
    log_cosh = xp.where(large, xp.log(xp.where(large, scaled, 1.0)), xp.log1p(square) / 2)
    tangent = xp.where(large, 1.0, xp.where(large, 0.0, scaled) / xp.sqrt(1 + square))
    share = _decay(xp, tangent, df) / (2 * _decay(xp, xp.zeros_like(tangent), df))
    tail = xp.exp(-df * log_cosh) * share
    tail = xp.where(xp.abs(t) < xp.inf, tail, 0.0)
    tail = xp.where(t < 0, 1 - tail, tail)
    tail = xp.where(finite, tail, upper_tail(xp, t))
    return xp.where(valid & ~xp.isnan(t), tail, xp.nan)


def _decay(xp: Namespace, tangent: Array, df: Array) -> Array:
    """Return the integral over v > 0 of (cosh(y + v) / cosh(y))^-df, given tanh(y) >= 0.

    The ratio is cosh(v) + tanh(y) sinh(v). The rule is the double exponential one for integrands
    that decay exponentially (Takahasi & Mori 1974), in units in which this one does so at rate 1.
    """
    place, weight = _quadrature(xp, df)
    floor = 1 / xp.sqrt(xp.where(df > 1, df, 1.0))
    unit = (1 / (df * (tangent + (1 - tangent) * floor)))[..., None]
    v, df, tangent = place * unit, df[..., None], tangent[..., None]
    # Either form has all digits where it is used.
    short = xp.where(v < 1, v, 1.0)
    half = xp.expm1(short / 2)
    half = (half + half / (1 + half)) / 2  # sinh(v / 2)
    near = xp.log1p(2 * half * (half + xp.sqrt(1 + half * half) * tangent))
    far = v + xp.log1p((1 - tangent) / 2 * xp.expm1(-2 * v))
    log_ratio = xp.where(v < 1, near, far)
    return xp.sum(weight * xp.exp(-df * log_ratio), axis=-1) * unit[..., 0]


def _quadrature(xp: Namespace, like: Array) -> tuple[Array, Array]:
    """Return places and weights of the trapezoidal rule after v = exp(x - exp(-x))."""
    step, first, last = _RULE
    xs = [first + step * k for k in range(round((last - first) / step) + 1)]
    places = [math.exp(x - math.exp(-x)) for x in xs]
    weights = [step * (1 + math.exp(-x)) * v for x, v in zip(xs, places, strict=True)]

    def column(values: list[float]) -> Array:
        array = xp.asarray(values, dtype=like.dtype, device=device_of(xp, like))
        return xp.reshape(array, (1,) * like.ndim + (len(values),))

    return column(places), column(weights)


def _t_quantile(xp: Namespace, p: Array, df: Array) -> Array:
    """Solve for y = arsinh(t / sqrt(df)) with Newton's method.

    The logarithm of the tail is concave in y. So the first step leads beyond the solution wherever
    it starts, and all further steps approach the solution from there.
    """
    inside, valid, finite = (p > 0) & (p < 1), df > 0, df < xp.inf
    df = xp.where(valid & finite, df, 1.0)
    tail = xp.where(inside, xp.where(p < 0.5, p, 1 - p), 0.25)
    target = xp.log(2 * tail * _decay(xp, xp.zeros_like(tail), df))

    def approach(_: Any, y: Array) -> Array:
        tangent = xp.tanh(y)
        decay = _decay(xp, tangent, df)
        excess = xp.log(decay) - df * _log_cosh(xp, y, tangent) - target
        y = y + excess * decay  # the tail over its derivative
        return xp.where(y > 0, y, 0.0)

    y = _until_settled(xp, approach, xp.zeros_like(p))
    size = xp.sqrt(df) * xp.sinh(y)
    t = xp.where(p < 0.5, -size, size)
    t = xp.where(finite, _with_ends(xp, p, inside, t), quantile(xp, p))
    return xp.where(valid, t, xp.nan)


def _until_settled(xp: Namespace, approach: Callable[[Any, Array], Array], start: Array) -> Array:
    """Take all steps, or where values can be looked at as many as change anything."""
    if not values_are_at_hand(xp):
        return repeat(xp, _NEWTON_STEPS, approach, start)
    precision, y = 4 * xp.finfo(start.dtype).eps, start
    for _ in range(_NEWTON_STEPS):
        before, y = y, approach(0, y)
        if (xp.abs(y - before) <= precision * y).all():
            break
    return y


def _log_cosh(xp: Namespace, y: Array, tangent: Array) -> Array:
    small = xp.where(y < 1, tangent, 0.0)
    return xp.where(
        y < 1, -xp.log1p(-small * small) / 2, y + xp.log1p(xp.exp(-2 * y)) - math.log(2)
    )
