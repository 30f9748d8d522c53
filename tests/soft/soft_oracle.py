"""Soft metrics and losses by visiting all pairs, sharing no code with the package.

Written for ``numpy`` or ``jax.numpy``, passed as ``xp``, so that JAX can differentiate them.
"""


def step(xp, x):
    """Return the Laplace distribution function."""
    away = xp.where(x > 0, x, -x)
    return xp.where(x > 0, 1 - xp.exp(-away) / 2, xp.exp(-away) / 2)


def softplus(xp, t):
    return xp.logaddexp(xp.zeros_like(t), -t)


PHI = {
    "laplace_softplus": lambda xp, t: (
        xp.where(t < 0, -t, 0.0) + xp.exp(-xp.where(t < 0, -t, t)) / 2
    ),
    "logistic": softplus,
    "squared": lambda xp, t: (1 - t) ** 2,
    "squared_hinge": lambda xp, t: xp.where(t < 1, 1 - t, 0.0) ** 2,
    "exponential": lambda xp, t: xp.exp(-t),
}


def rms(xp, x, w):
    return xp.sqrt(xp.sum(w * x**2) / xp.sum(w))


def std(xp, x, w):
    return rms(xp, x - xp.sum(w * x) / xp.sum(w), w)


def over_pairs(xp, values, w, unbiased=False):
    pairs = w[:, None] * w[None, :]
    if unbiased is not False:  # True, or which pairs to leave out
        pairs = pairs * (1 - (xp.eye(w.shape[0]) if unbiased is True else unbiased))
    return xp.sum(pairs * values) / xp.sum(pairs)


def soft_lxcim(xp, m, w, temperature, unbiased=False):
    return over_pairs(xp, step(xp, (m[:, None] + m[None, :]) / temperature), w, unbiased)


def soft_accuracy(xp, m, w, temperature):
    return xp.sum(w * step(xp, m / temperature)) / xp.sum(w)


def soft_rank(xp, x, w, temperature):
    return xp.sum(w[None, :] * step(xp, (x[:, None] - x[None, :]) / temperature), axis=1) + w / 2


def soft_auroc(xp, s, w, temperature, y):
    high, low = w * y, w * (1 - y)
    wins = xp.sum(high[:, None] * low[None, :] * step(xp, (s[:, None] - s[None, :]) / temperature))
    return wins / (xp.sum(high) * xp.sum(low))


def soft_audrc(xp, m, w, temperature, share=1):
    """Return soft AUDRC of margins, or of signed confidences with shares of votes."""
    g, right = xp.where(m >= 0, m, -m), step(xp, m / temperature)
    credit = share * right + (1 - share) * (1 - right)
    surer = step(xp, (g[None, :] - g[:, None]) / temperature)
    done = xp.sum(w[None, :] * surer, axis=1) + w / 2
    won = xp.sum(w[None, :] * credit[None, :] * surer, axis=1) + w * credit / 2
    return xp.sum(w * won / xp.where(done > 0, done, 1.0)) / xp.sum(w)


def surrogate(xp, m, w, temperature, kind):
    mean = over_pairs(xp, PHI[kind](xp, (m[:, None] + m[None, :]) / temperature), w)
    return xp.log(mean) if kind == "exponential" else mean


def combined(xp, m, w, temperature):
    return xp.sum(w * softplus(xp, m)) / xp.sum(w) + 2 * (1 - soft_lxcim(xp, m, w, temperature))
