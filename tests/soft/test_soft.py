"""Soft metrics and losses: values and derivatives, on every backend and under every transform."""

from functools import partial

import numpy as np
import pytest
import soft_oracle as oracle
from backends import context, convert, to_numpy
from hypothesis import assume, given
from hypothesis import strategies as st
from samples import SHARES, look_swapped, masks

import lxcim_xp as lx
from lxcim_xp._arrays.namespaces import namespace
from lxcim_xp.testing import samples

TEMPERATURE = 0.4
KINDS = tuple(oracle.PHI)
SCORES = st.one_of(st.integers(-3, 3), st.integers(-64, 64).map(lambda k: k / 8)).map(float)
SAMPLES = samples(scores=SCORES) | samples(scores=SCORES, labels=SHARES)

soft = {"temperature": TEMPERATURE, "scale": None}
VALUES = {
    "soft_lxcim": partial(lx.soft_lxcim, **soft),
    "unbiased": partial(lx.soft_lxcim, **soft, unbiased=True),
    "rms": partial(lx.soft_lxcim, temperature=TEMPERATURE),
    "soft_accuracy": partial(lx.soft_accuracy, **soft),
    "soft_audrc": partial(lx.soft_audrc, **soft),
    "soft_auroc": partial(lx.soft_auroc, **soft),
    "std": partial(lx.soft_auroc, temperature=TEMPERATURE),
    "lxcim_loss": partial(lx.lxcim_loss, **soft),
    "combined": partial(lx.losses.combined, **soft),
    **{
        kind: partial(lx.lxcim_surrogate, kind=kind, temperature=TEMPERATURE)
        for kind in ("laplace_softplus", "logistic", "squared", "squared_hinge", "exponential")
    },
}
FEW = {name: VALUES[name] for name in ("soft_lxcim", "laplace_softplus")}


def expected(name, y, s, w):
    """Return a value of VALUES by the oracle."""
    t, unbiased, many = TEMPERATURE, True, (w > 0).sum() > 1
    if name == "soft_audrc":
        return oracle.soft_audrc(np, s, w, t, y)
    if ((y > 0) & (y < 1)).any():  # each sample with both labels, which share its weight
        unbiased = np.kron(np.ones((2, 2)), np.eye(y.size))
        y, s, w = np.append(1 + 0 * y, 0 * y), np.append(s, s), np.append(w * y, w * (1 - y))
    m = (2 * y - 1) * s
    if name in KINDS:
        return oracle.surrogate(np, m, w, t, name)
    if name in ("soft_auroc", "std"):
        scale = (oracle.std(np, s, w) or 1.0) if name == "std" else 1.0
        classes = (w * y).sum() * (w * (1 - y)).sum()
        return oracle.soft_auroc(np, s, w, t * scale, y) if classes else np.nan
    if name == "rms":
        return oracle.soft_lxcim(np, m, w, t * (oracle.rms(np, m, w) or 1.0))
    if name == "unbiased":
        return oracle.soft_lxcim(np, m, w, t, unbiased=unbiased) if many else np.nan
    if name == "lxcim_loss":
        return 1 - oracle.soft_lxcim(np, m, w, t)
    return getattr(oracle, name)(np, m, w, t)


def several(chosen, y_true, y_score, **options):
    """Return all values in one program, since each program is compiled."""
    values = [VALUES[name](y_true, y_score, **options) for name in chosen]
    return namespace(y_score=y_score).stack(values, axis=-1)


def all_values(y_true, y_score, sample_weight=None, where=None):
    return several(VALUES, y_true, y_score, sample_weight=sample_weight, where=where)


def few_values(y_true, y_score, sample_weight=None, where=None):
    return several(FEW, y_true, y_score, sample_weight=sample_weight, where=where)


# The compiler of torch has a test of its own, since it takes long.
@given(SAMPLES)
@pytest.mark.runners("*-eager", "jax*", "torch-vmap")
def test_values_are_those_of_all_pairs(runner, sample):
    # Each operation of its own, or each kernel of torch's compiler, takes long to compile.
    slow = runner.transform == "compile" or (
        str(runner).startswith("jax") and "jit" not in str(runner)
    )
    program, names = (few_values, FEW) if slow else (all_values, VALUES)
    found = runner(program, *sample)
    with np.errstate(all="ignore"):
        wanted = np.asarray([expected(name, *sample) for name in names])
    # Pair losses are as large as the squares of margins, exponentials as large as their powers.
    np.testing.assert_allclose(found, wanted, rtol=30 * runner.tolerance, atol=runner.tolerance)


@pytest.mark.runners("*-eager")
def test_hundreds_of_samples_have_the_values_and_gradients_of_all_pairs(runner):
    rng = np.random.default_rng(14)
    dtype = runner.backend.dtype
    m = np.concatenate([rng.normal(0.5, 1, 250), rng.integers(-2, 3, 50)]).astype(dtype)
    w = rng.integers(0, 4, 300).astype(dtype)
    near = np.exp(-np.abs(m[:, None].astype(float) + m) / TEMPERATURE) @ w.astype(float)
    by_margin = w * near / (w.sum() ** 2 * TEMPERATURE)
    options = {"temperature": TEMPERATURE, "scale": None}
    with context(runner.backend):
        margins, weight = (convert(runner.backend, array) for array in (m, w))
        for function, theirs in (
            (lx.soft_lxcim, oracle.soft_lxcim),
            (lx.soft_audrc, oracle.soft_audrc),
        ):
            run = compiled(runner, partial(lx.value_and_grad(function), 1, **options))
            value, gradient = (to_numpy(x) for x in run(margins, sample_weight=weight))
            wanted = theirs(np, m.astype(float), w.astype(float), TEMPERATURE)
            np.testing.assert_allclose(value, wanted, rtol=10 * runner.tolerance)
            if function is lx.soft_lxcim:
                tolerance = 10 * runner.tolerance * by_margin.max()
                np.testing.assert_allclose(gradient, by_margin, atol=tolerance)


@given(st.data(), SAMPLES)
@pytest.mark.runners("numpy-*", "strict-eager", "strict-no-float64-*", "jax*-jit", "torch-eager")
def test_exchanging_any_subset_changes_neither_value_nor_learning(runner, data, sample):
    which = data.draw(masks(sample.y_true.size))
    label = np.where(which, 1 - sample.y_true, sample.y_true)
    score = np.where(which, -sample.y_score, sample.y_score)
    assume(not look_swapped(label, score, sample.sample_weight))
    before = runner(margin_gradients, *sample)
    after = runner(margin_gradients, label, score, sample.sample_weight)
    turned = before.copy()
    turned[..., 1:][..., : which.size] *= np.where(which, -1, 1)
    np.testing.assert_allclose(after, turned, rtol=10 * runner.tolerance, atol=runner.tolerance)


def margin_gradients(y_true, y_score, sample_weight=None, where=None):
    """Return value and derivatives by the scores of three functions of margins."""
    options = {"sample_weight": sample_weight, "where": where}
    xp = namespace(y_score=y_score)
    rows = []
    for function in (lx.soft_lxcim, lx.soft_audrc, lx.lxcim_surrogate):
        value, gradient = lx.value_and_grad(function)(y_true, y_score, **options)
        rows.append(xp.concat([value[None], gradient], axis=-1))
    return xp.stack(rows)


@given(SAMPLES)
@pytest.mark.runners("numpy-*", "strict-eager", "strict-no-float64-*", "jax-x64-*jit", "torch-vmap")
def test_temperature_zero_is_the_metric_itself(runner, sample):
    for name in ("lxcim", "accuracy", "auroc", "audrc"):
        at_zero = partial_of(f"soft_{name}", temperature=0)
        hard = runner(getattr(lx, name), *sample)
        np.testing.assert_allclose(runner(at_zero, *sample), hard, atol=runner.tolerance)


PARTIALS = {}


def partial_of(name, **options):
    """Return one and the same function for the same options, so that it is compiled once."""
    return PARTIALS.setdefault((name, *options.items()), partial(getattr(lx, name), **options))


# Samples of weight zero fill up to one length, for which the program is compiled once.
CASES = {
    "plain": ([2.0, -1.0, 0.5, -0.25, 1.5, 0.0], [1, 1, 1, 1, 1, 1], [1.0, 2.0, 0.5, 1.0, 0.75, 0]),
    "ties": ([1.0, 1.0, -1.0, 0.0, 2.0, 2.0], [1, 1, 1, 1, 0, 1], [1.0, 0.0, 2.0, 1.0, 1.0, 0.5]),
    "decades": ([1e6 + 1, 1e6 + 2, -1e6, 1e-6, 3.0, 0.1], [1, 0, 1, 1, 1, 0], [1.0] * 6),
    "one": ([0.7, 0.1, 0.2, 0.3, 0.4, 0.5], [1, 0, 1, 0, 1, 0], [2.0, 0, 0, 0, 0, 0]),
    "two": ([0.7, -0.2, 0.2, 0.3, 0.4, 0.5], [1, 1, 1, 0, 1, 0], [2.0, 1.0, 0, 0, 0, 0]),
    "right": ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 1, 1, 1, 1, 1], [1.0] * 6),
    "wrong": ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0, 0, 0, 0, 0, 0], [1.0] * 6),
}


@pytest.mark.runners("jax-x64-eager")
def test_derivatives_are_those_of_all_pairs(runner):
    import jax
    import jax.numpy as jnp

    def ours(s, w, t, y):
        options = {"sample_weight": w, "temperature": t}
        metrics = (lx.soft_lxcim, lx.soft_accuracy, lx.soft_audrc)
        values = [metric(y, s, scale=None, **options) for metric in metrics]
        values += [lx.lxcim_surrogate(y, s, kind=kind, **options) for kind in KINDS]
        return jnp.stack(values)

    def theirs(s, w, t, y):
        m = (2 * y - 1) * s
        metrics = (oracle.soft_lxcim, oracle.soft_accuracy, oracle.soft_audrc)
        values = [metric(jnp, m, w, t) for metric in metrics]
        values += [oracle.surrogate(jnp, m, w, t, kind) for kind in KINDS]
        return jnp.stack(values)

    with context(runner.backend):
        by = (0, 1, 2)
        found = [jax.jit(transform(ours, by)) for transform in (jax.jacrev, jax.jacfwd)]
        wanted = jax.jit(jax.jacfwd(theirs, by))
        for name, arrays in CASES.items():
            s, y, w = (convert(runner.backend, np.asarray(array, float)) for array in arrays)
            at = (s, w, jnp.asarray(TEMPERATURE), y)
            for by_pairs, by_sort in zip([wanted(*at)] * 2, [f(*at) for f in found], strict=True):
                for expected_rows, rows in zip(by_pairs, by_sort, strict=True):
                    compare_rows(name, to_numpy(rows), to_numpy(expected_rows))


def compare_rows(name, found, wanted):
    """Compare derivatives of each function relative to their size."""
    for function, (a, b) in enumerate(zip(found, wanted, strict=True)):
        where = f"{name} {function}"
        if name == "decades" and function == 3 + KINDS.index("exponential"):
            assert np.isfinite(a).all(), where  # the oracle overflows
            continue
        scale = max(1.0, np.abs(b).max())
        np.testing.assert_allclose(a / scale, b / scale, atol=1e-12, err_msg=where)


def compiled(runner, function):
    """Compile a function under JAX, whose operations one by one take long to compile."""
    if runner.backend.library != "jax":
        return function
    import jax

    return jax.jit(function)


@pytest.mark.runners("jax-x64-eager", "torch-eager")
def test_second_derivatives_are_those_of_all_pairs(runner):
    rng = np.random.default_rng(1)
    # No two margins whose sum is zero: there, a second derivative jumps.
    s, y, w = rng.normal(size=30), rng.integers(0, 2, 30).astype(float), rng.random(30)
    hessian = differences_of_gradients(y, s, w)
    with context(runner.backend):
        y, s, w = (convert(runner.backend, array) for array in (y, s, w))

        def value(s):
            return lx.soft_lxcim(y, s, sample_weight=w, temperature=TEMPERATURE)

        if runner.backend.library == "jax":
            import jax

            transforms = (jax.hessian, lambda f: jax.jacrev(jax.grad(f)))
        else:
            import torch

            transforms = (torch.func.hessian, lambda f: partial(torch_hessian, f))
        for transform in transforms:
            found = compiled(runner, transform(value))(s)
            np.testing.assert_allclose(to_numpy(found), hessian, atol=1e-7)


def torch_hessian(value, s):
    import torch

    return torch.autograd.functional.hessian(value, s)


def differences_of_gradients(y, s, w, step=1e-5):
    def gradient(s):
        m = (2 * y - 1) * s
        t = TEMPERATURE * oracle.rms(np, m, w)
        near = np.exp(-np.abs(m[:, None] + m[None, :]) / t) @ w
        by_margin = w * near / (w.sum() ** 2 * t)
        by_temperature = -(m @ by_margin) / t
        by_rms = TEMPERATURE * w * m / (w.sum() * oracle.rms(np, m, w))
        return (2 * y - 1) * (by_margin + by_temperature * by_rms)

    return np.stack(
        [(gradient(s + step * e) - gradient(s - step * e)) / (2 * step) for e in np.eye(s.size)]
    )


@pytest.mark.runners("torch-eager")
def test_torch_finds_the_gradients_right(runner):
    import torch

    rng = np.random.default_rng(2)
    y = torch.asarray(rng.integers(0, 2, 7))
    s, w = (torch.asarray(x).requires_grad_() for x in (rng.normal(size=7), rng.random(7)))
    t = torch.tensor(TEMPERATURE, dtype=torch.float64, requires_grad=True)
    for function in (lx.soft_lxcim, lx.soft_auroc, lx.soft_audrc, lx.soft_accuracy):

        def value(s, w, t, function=function):
            return function(y, s, sample_weight=w, temperature=t)

        assert torch.autograd.gradcheck(value, (s, w, t), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(value, (s, w, t))
    for kind in KINDS:

        def loss(s, w, t, kind=kind):
            return lx.lxcim_surrogate(y, s, sample_weight=w, temperature=t, kind=kind)

        assert torch.autograd.gradcheck(loss, (s, w, t))
    assert torch.autograd.gradcheck(lambda s, w: lx.soft_rank(s, sample_weight=w), (s, w))


@pytest.mark.runners("torch-eager")
def test_torch_transforms_nest_either_way(runner):
    import torch

    rng = np.random.default_rng(3)
    scores, weight = rng.normal(size=(3, 9)), rng.random(9)
    wanted = lx.value_and_grad(lx.lxcim_loss)(1, scores, sample_weight=weight)[1]
    s, w = torch.asarray(scores), torch.asarray(weight)

    def loss(s):
        return lx.lxcim_loss(1, s, sample_weight=w)

    mapped_gradient = torch.func.vmap(torch.func.grad(loss))(s)
    gradient_of_mapped = torch.func.grad(lambda s: torch.func.vmap(loss)(s).sum())(s)
    leaf = s.clone().requires_grad_()
    loss(leaf).sum().backward()
    for found in (mapped_gradient, gradient_of_mapped, leaf.grad):
        np.testing.assert_allclose(to_numpy(found), wanted, atol=1e-14)


@pytest.mark.runners("torch-compile")
def test_torch_compiles_the_loss_with_its_gradient(runner):
    import torch

    rng = np.random.default_rng(4)
    compiled = torch.compile(lambda s: lx.lxcim_loss(1, s), fullgraph=True)
    for _ in range(3):
        scores = rng.normal(size=12).round(1)
        s = torch.asarray(scores).requires_grad_()
        value = compiled(s)
        value.backward()
        wanted = lx.value_and_grad(lx.lxcim_loss)(1, scores)
        for found, by_hand in zip((value.detach(), s.grad), wanted, strict=True):
            np.testing.assert_allclose(to_numpy(found), by_hand, atol=1e-14)


@pytest.mark.runners("numpy-eager", "strict*", "torch-eager", "cupy-eager")
def test_gradients_by_hand_and_by_the_library_are_those_of_differences(runner):
    rng = np.random.default_rng(5)
    y, s, w = rng.integers(0, 2, 9), rng.normal(size=9), rng.random(9)
    probabilities = 1 / (1 + np.exp(-s))
    cases = [
        (function, s, {"scale": scale, "threshold": 0.2})
        for function in (lx.soft_lxcim, lx.soft_accuracy, lx.soft_auroc, lx.soft_audrc)
        for scale in ("rms", "std", 2.0)
    ]
    cases += [(lx.soft_lxcim, s, {"decision": lx.asymmetric(0.1, 2.0, 0.5), "unbiased": True})]
    cases += [
        (lx.lxcim_loss, probabilities, {"decision": decision})
        for decision in (lx.probability(), lx.logit())
    ]
    cases += [(lx.losses.combined, s, {"soft_weight": 0.5}), (lx.lxcim_surrogate, s, {})]
    for function, score, options in cases:

        def value(score, function=function, options=options):
            return function(y, score, sample_weight=w, **options)

        step = 1e-6
        wanted = [
            (value(score + step * e) - value(score - step * e)) / (2 * step) for e in np.eye(9)
        ]
        dtype = runner.backend.dtype
        with context(runner.backend):
            arrays = [convert(runner.backend, x.astype(dtype)) for x in (y, score, w)]
            found = lx.value_and_grad(function)(*arrays[:2], sample_weight=arrays[2], **options)
            np.testing.assert_allclose(to_numpy(found[0]), value(score), rtol=10 * runner.tolerance)
            tolerance = 1e-8 if dtype == "float64" else 2e-6
            np.testing.assert_allclose(to_numpy(found[1]), wanted, atol=tolerance)


@pytest.mark.runners("*-eager")
def test_ranks_are_those_of_all_pairs(runner):
    rng = np.random.default_rng(6)
    x, w = rng.normal(size=(2, 30)).round(1), rng.integers(0, 4, 30).astype(float)
    wanted = [
        oracle.soft_rank(np, row, w, TEMPERATURE * oracle.std(np, row, w)) * (w > 0) for row in x
    ]
    with context(runner.backend):
        arrays = [
            convert(runner.backend, a.astype(runner.backend.dtype)) for a in (x.T, w[:, None])
        ]
        rank = partial(lx.soft_rank, axis=0, temperature=TEMPERATURE)
        found = compiled(runner, lambda x, w: rank(x, sample_weight=w))(*arrays)
        np.testing.assert_allclose(to_numpy(found).T, wanted, rtol=10 * runner.tolerance)


@pytest.mark.runners("jax-x64-eager")
def test_ranks_have_the_jacobian_of_all_pairs(runner):
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(7)
    with context(runner.backend):
        x, w = (convert(runner.backend, a) for a in (rng.normal(size=20), rng.random(20)))

        def ours(x):
            return lx.soft_rank(x, sample_weight=w, temperature=TEMPERATURE, scale=None)

        wanted = to_numpy(jax.jacfwd(lambda x: oracle.soft_rank(jnp, x, w, TEMPERATURE))(x))
        for transform in (jax.jacfwd, jax.jacrev):
            found = jax.jit(transform(ours))(x)
            np.testing.assert_allclose(to_numpy(found), wanted, atol=1e-12)


@pytest.mark.runners("jax-eager", "jax-x64-eager", "torch-eager", "numpy-eager", "strict-*")
def test_margins_of_any_size_have_finite_values_and_gradients(runner):
    rng = np.random.default_rng(8)
    margins = rng.normal(size=8).astype(runner.backend.dtype)
    with context(runner.backend):
        for function in (lx.soft_lxcim, lx.soft_accuracy, lx.soft_audrc):
            run = compiled(runner, partial(lx.value_and_grad(function), 1))
            for factor in (0.0, 1e-30, 1e-6, 1.0, 1e6, 1e30):
                scaled = convert(runner.backend, (margins * factor).astype(runner.backend.dtype))
                value, gradient = (to_numpy(x) for x in run(scaled))
                assert np.isfinite(value)
                assert np.isfinite(gradient).all()
                if factor:
                    reference, slope = lx.value_and_grad(function)(1, margins.astype(float))
                    np.testing.assert_allclose(value, reference, rtol=20 * runner.tolerance)
                    np.testing.assert_allclose(gradient * factor, slope, atol=20 * runner.tolerance)
                    along = (gradient * margins).sum() * factor
                    assert abs(along) < 20 * runner.tolerance
                else:
                    assert value == 0.5


SCALES = {"float32": (-149, -140, -126, -120, -66, 66, 120, 126)}
SCALES["float64"] = (-1070, -1040, -1022, -1010, *SCALES["float32"], 1010, 1022)


@pytest.mark.runners("jax-eager", "jax-x64-eager", "torch-eager", "numpy-eager", "strict-*")
def test_scores_of_any_scale_have_the_value_and_the_gradient_of_others(runner):
    rng = np.random.default_rng(3)
    dtype = runner.backend.dtype
    # Powers of two apart and near one, so that scales round nothing and make none subnormal alone.
    y = rng.integers(0, 2, 9)
    scores = (rng.choice([-1, 1], 9) * rng.integers(8, 16, 9) / 8).astype(dtype)
    least = np.finfo(dtype).minexp
    with context(runner.backend):
        label = convert(runner.backend, y)
        for function, scale in (
            (lx.soft_lxcim, "rms"),
            (lx.soft_audrc, "rms"),
            (lx.soft_auroc, "std"),
        ):
            run = compiled(
                runner, partial(lx.value_and_grad(function), label, temperature=0.9, scale=scale)
            )
            value, gradient = (to_numpy(x) for x in run(convert(runner.backend, scores)))
            for power in SCALES[dtype]:
                found, slope = run(convert(runner.backend, np.ldexp(scores, power)))
                found, slope = to_numpy(found), to_numpy(slope)
                assert not np.isnan(slope).any()
                if power < least:  # as if all were zero, unless a wider float computes it
                    assert 0 <= found <= 1
                    continue
                np.testing.assert_allclose(found, value, rtol=20 * runner.tolerance)
                np.testing.assert_allclose(
                    np.ldexp(slope.astype(np.float64), min(power, 1000)),
                    np.ldexp(gradient, min(power, 1000) - power),
                    # Some devices take slopes below normal numbers for zero.
                    atol=20 * runner.tolerance + np.ldexp(1.0, min(power, 1000) + least),
                )


@pytest.mark.runners("jax-eager", "jax-x64-eager", "torch-eager", "numpy-eager", "strict-*")
def test_the_gradient_is_finite_at_any_temperature_with_ties(runner):
    y = np.asarray([1, 0, 1, 1, 0, 1])
    scores = np.asarray([1.0, 1.0, -2.0, 2.0, 0.0, -1.0], dtype=runner.backend.dtype)
    with context(runner.backend):
        label, score = convert(runner.backend, y), convert(runner.backend, scores)
        for function in (lx.soft_lxcim, lx.soft_accuracy, lx.soft_audrc, lx.soft_auroc):
            for scale in ("rms", "std", None):
                limit = function(label, score, temperature=0.0, scale=scale)
                for exponent in (-12, -20, -40, -150, -160, -200, -300, -308, -310, -323):
                    value, gradient = lx.value_and_grad(function)(
                        label, score, temperature=10.0**exponent, scale=scale
                    )
                    assert np.isfinite(to_numpy(gradient)).all()
                    if function is not lx.soft_audrc:  # whose limit is another one with ties
                        np.testing.assert_allclose(
                            to_numpy(value), to_numpy(limit), rtol=runner.tolerance
                        )


@given(SAMPLES)
def test_soft_lxcim_grows_with_every_margin(sample):
    for function in (lx.soft_lxcim, lx.soft_accuracy):
        slope = lx.value_and_grad(function)(1, *sample[1:2], sample_weight=sample[2], scale=None)[1]
        assert (slope >= 0).all()
        assert (slope[sample.sample_weight > 0] > 0).any()


def test_the_bias_is_quadratic_in_the_temperature():
    margins = np.random.default_rng(9).normal(0.8, 1, 20_000)
    hard = lx.lxcim(1, margins)
    bias = [lx.soft_lxcim(1, margins, temperature=t, scale=None) - hard for t in (0.4, 0.2, 0.1)]
    assert bias[0] < 0
    np.testing.assert_allclose([bias[0] / bias[1], bias[1] / bias[2]], 4, rtol=0.15)


def test_soft_audrc_tends_to_the_metric_for_distinct_confidences():
    rng = np.random.default_rng(10)
    margins, weight = rng.normal(0.5, 1, 200), rng.random(200)
    found = lx.soft_audrc(1, margins, sample_weight=weight, temperature=1e-12, scale=None)
    np.testing.assert_allclose(found, lx.audrc(1, margins, sample_weight=weight), atol=1e-12)


def test_the_mean_over_mini_batches_is_the_value_of_the_whole():
    rng = np.random.default_rng(11)
    batches = rng.normal(0.8, 1, (20_000, 8))
    options = {"temperature": TEMPERATURE, "scale": None}
    whole = lx.soft_lxcim(1, rng.normal(0.8, 1, 400_000), **options, unbiased=True)
    unbiased, biased = (
        lx.soft_lxcim(1, batches, **options, unbiased=flag) for flag in (True, False)
    )
    error = unbiased.std() / np.sqrt(len(batches))
    assert abs(unbiased.mean() - whole) < 4 * error
    assert abs(biased.mean() - whole) > 4 * error


@pytest.mark.runners("jax-eager")
def test_float32_has_the_gradient_of_float64_at_a_million_samples(runner):
    margins = np.random.default_rng(12).normal(0.8, 1, 10**6).astype(np.float32)
    wanted = lx.value_and_grad(lx.soft_lxcim)(1, margins.astype(float))[1]
    with context(runner.backend):
        run = compiled(runner, partial(lx.value_and_grad(lx.soft_lxcim), 1))
        found = to_numpy(run(convert(runner.backend, margins))[1])
    assert np.abs(found - wanted).max() < 2e-6 * np.abs(wanted).max()


@pytest.mark.runners("jax-eager")
def test_the_length_of_the_program_does_not_depend_on_the_number_of_samples(runner):
    import jax

    def count(n):
        margins = jax.ShapeDtypeStruct((n,), "float32")
        program = jax.make_jaxpr(jax.grad(lambda s: lx.lxcim_loss(1, s)))(margins)
        return operations(program.jaxpr)

    with context(runner.backend):
        counts = [count(n) for n in (100, 10_000, 10**6)]
        # Padding, where the number of samples wants it, takes a few.
        assert max(counts) - min(counts) < 0.1 * min(counts)


def operations(jaxpr):
    """Count the equations of a program and of the programs inside."""
    from jax.extend import core

    inner = 0
    for equation in jaxpr.eqns:
        for parameter in equation.params.values():
            for one in parameter if isinstance(parameter, tuple | list) else [parameter]:
                if isinstance(one, core.ClosedJaxpr):
                    inner += operations(one.jaxpr)
                elif isinstance(one, core.Jaxpr):
                    inner += operations(one)
    return len(jaxpr.eqns) + inner


@pytest.mark.runners("jax-x64-eager")
def test_a_temperature_may_be_traced_mapped_and_differentiated(runner):
    import jax
    import jax.numpy as jnp

    margins = np.random.default_rng(13).normal(0.8, 1, 50)
    temperatures = np.asarray([0.0, 0.1, 1.0])
    wanted = [lx.soft_lxcim(1, margins, temperature=t) for t in temperatures]
    np.testing.assert_allclose(
        lx.soft_lxcim(1, np.stack([margins] * 3), temperature=temperatures), wanted, atol=1e-14
    )
    with context(runner.backend):
        m, t = (convert(runner.backend, a) for a in (margins, temperatures))

        def value(t):
            return lx.soft_lxcim(1, m, temperature=t)

        run = jax.jit(jax.vmap(jax.value_and_grad(value)))
        found, slope = run(t)
        np.testing.assert_allclose(to_numpy(found), wanted, atol=1e-14)
        assert slope[0] == 0
        step = 1e-6
        differences = [
            (
                lx.soft_lxcim(1, margins, temperature=t + step)
                - lx.soft_lxcim(1, margins, temperature=t - step)
            )
            / (2 * step)
            for t in temperatures[1:]
        ]
        np.testing.assert_allclose(to_numpy(slope[1:]), differences, rtol=1e-6)
        bad, _ = run(jnp.asarray([-1.0, jnp.nan, 0.3]))
        assert np.isnan(to_numpy(bad)).tolist() == [True, True, False]


@pytest.mark.runners("jax-eager", "torch-eager", "strict-eager")
def test_bad_scores_have_nan_values_and_nan_gradients(runner):
    margins = np.asarray([[1.0, np.inf, 2.0], [1.0, np.nan, 2.0], [1.0, -1.0, 2.0]])
    with context(runner.backend):
        bad = convert(runner.backend, margins.astype(runner.backend.dtype))
        run = compiled(runner, partial(lx.value_and_grad(lx.lxcim_loss), 1))
        value, gradient = (to_numpy(x) for x in run(bad))
    assert np.isnan(value).tolist() == [True, True, False]
    assert np.isnan(gradient).any(axis=-1).tolist() == [True, True, False]


def test_bad_input_says_what_to_do():
    margins = [1.0, -2.0, 3.0]
    for temperature in (-0.1, np.nan, np.inf, np.asarray(-1.0)):
        with pytest.raises(ValueError, match="temperature must be finite and not negative; found"):
            lx.soft_lxcim(1, margins, temperature=temperature)
    with pytest.raises(ValueError, match="scale must be 'rms', 'std', None or a positive number"):
        lx.soft_lxcim(1, margins, scale="mad")
    with pytest.raises(ValueError, match="scale must be"):
        lx.soft_rank(margins, scale=-1.0)
    with pytest.raises(ValueError, match=r"must be finite.*found inf at position 1\. Clip"):
        lx.lxcim_loss(1, [1.0, np.inf])
    with pytest.raises(ValueError, match=r"found inf at position \(1, 0\)"):
        lx.soft_auroc([[1, 0], [0, 1]], [[1.0, 2.0], [np.inf, 2.0]], axis=0)
    with pytest.raises(ValueError, match=r"found 1 at position 0\. Clip"):
        lx.soft_accuracy(1, [1.0, 0.5], decision=lx.logit())
    with pytest.raises(ValueError, match=r"kind must be one of .*'laplace_softplus'"):
        lx.lxcim_surrogate(1, margins, kind="log")
    with pytest.raises(ValueError, match="kind 'hinge' is not offered"):
        lx.lxcim_surrogate(1, margins, kind="hinge")
    with pytest.raises(ValueError, match=r"margin=2\.0 has no meaning"):
        lx.lxcim_surrogate(1, margins, margin=2.0)
    with pytest.raises(ValueError, match="temperature must be positive for a surrogate"):
        lx.lxcim_surrogate(1, margins, temperature=0)
    with pytest.raises(ValueError, match="soft_weight must be finite"):
        lx.losses.combined(1, margins, soft_weight=-1.0)
    with pytest.raises(ValueError, match="temperature must be positive for a gradient"):
        lx.value_and_grad(lx.soft_lxcim)(1, margins, temperature=0)
    with pytest.raises(TypeError, match="function must be one of combined, lxcim_loss"):
        lx.value_and_grad(lx.lxcim)
    cubic = lx.decision_function(lambda s: abs(s) ** 3)
    with pytest.raises(TypeError, match="the slope of this decision function is not known"):
        lx.value_and_grad(lx.lxcim_loss)(1, margins, decision=cubic)
    with pytest.raises(ValueError, match="soft_weight must be finite"):
        lx.value_and_grad(lx.losses.combined)(1, margins, soft_weight=-1.0)
    with pytest.raises(TypeError, match="loss must be lxcim_surrogate, lxcim_loss or combined"):
        lx.losses.boosting_objective(lx.soft_lxcim)
    with pytest.raises(TypeError, match="lxcim_loss has no option 'kind'"):
        lx.losses.boosting_objective(lx.lxcim_loss, kind="squared")


def test_what_does_not_count_may_hold_anything():
    margins, counts = (
        np.asarray([1.0, -2.0, np.inf, np.nan]),
        np.asarray([True, True, False, False]),
    )
    value, gradient = lx.value_and_grad(lx.lxcim_loss)(1, margins, where=counts)
    wanted = lx.value_and_grad(lx.lxcim_loss)(1, margins[:2])
    np.testing.assert_allclose(value, wanted[0])
    np.testing.assert_allclose(gradient, [*wanted[1], 0, 0])
    assert lx.soft_rank(margins, where=counts, temperature=0).tolist() == [2.0, 1.0, 0.0, 0.0]


def test_integer_scores_are_promoted():
    assert lx.lxcim_loss(1, [3, -1, 2]) == lx.lxcim_loss(1, [3.0, -1.0, 2.0])
    assert lx.value_and_grad(lx.lxcim_loss)(1, [3, -1, 2])[1].dtype == np.float64


def test_shared_scores_have_the_sum_of_the_gradients():
    labels, scores = np.asarray([[1, 0, 1], [0, 0, 1]]), np.asarray([0.5, -1.0, 2.0])
    _, shared = lx.value_and_grad(lx.lxcim_loss)(labels, scores)
    _, apart = lx.value_and_grad(lx.lxcim_loss)(labels, np.stack([scores, scores]))
    np.testing.assert_allclose(shared, apart.sum(axis=0))


def test_no_samples_have_no_value_and_no_gradient():
    value, gradient = lx.value_and_grad(lx.lxcim_loss)(1, np.zeros(0))
    assert np.isnan(value)
    assert gradient.shape == lx.soft_rank(np.zeros(0)).shape == (0,)
    assert np.isnan(lx.soft_lxcim(1, np.ones((2, 3)), where=np.zeros((2, 3), dtype=bool))).all()


def with_gradient(name):
    """Return the value and the gradient of one of VALUES."""
    return partial(lx.value_and_grad(VALUES[name].func), **VALUES[name].keywords)


def gradient_of(backend, function, x):
    """Return the gradient of the sum of what has a value."""
    if backend.library == "jax":
        import jax
        import jax.numpy as jnp

        return jax.jit(jax.grad(lambda x: jnp.nansum(function(x))))(x)
    import torch

    return torch.func.grad(lambda x: function(x).nansum())(x)


@pytest.mark.parametrize("how", ["where", "sample_weight", "nan_policy", "one"])
@pytest.mark.parametrize("name", VALUES)
def test_an_entry_without_a_value_has_a_gradient_of_zero(grad_backend, name, how):
    rng = np.random.default_rng(30)
    label, score = rng.integers(0, 2, (3, 6)), rng.normal(size=(3, 6))
    label[0] = [0, 1, 0, 1, 0, 1]
    label[2] = 1 - label[0]
    counts = np.ones((3, 6), dtype=bool)
    counts[1] = False
    if how == "one":  # sample, or class: not enough for some
        counts[1, 2] = True
        if name not in ("unbiased", "soft_auroc", "std"):
            return
    dtype = grad_backend.dtype
    arrays = {"y_true": label}
    if how == "nan_policy":
        score = np.where(counts, score, np.nan)
    elif how == "sample_weight":
        arrays[how] = counts.astype(dtype)
    else:
        arrays["where"] = counts
    others = [0, 2]
    _, wanted = with_gradient(name)(label[others], score[others])
    options = {"nan_policy": "omit"} if how == "nan_policy" else {}
    with context(grad_backend):
        given = {key: convert(grad_backend, array) for key, array in arrays.items()}
        scores = convert(grad_backend, score.astype(dtype))

        def value(scores):
            return VALUES[name](y_score=scores, **given, **options)

        def of_shared(scale):
            return value(scores * scale)

        assert np.isnan(to_numpy(value(scores))).tolist() == [False, True, False]
        gradient = to_numpy(gradient_of(grad_backend, value, scores))
        if how != "nan_policy":  # whose scores times anything have no derivative
            ones = convert(grad_backend, np.ones((1, 6), dtype=dtype))
            shared = to_numpy(gradient_of(grad_backend, of_shared, ones))
            expected = (wanted * score[others]).sum(axis=0)
            np.testing.assert_allclose(shared[0], expected, rtol=1e-4, atol=1e-5)
        if how == "sample_weight":

            def of_weight(weight):
                return VALUES[name](given["y_true"], scores, sample_weight=weight)

            by_weight = gradient_of(grad_backend, of_weight, given["sample_weight"])
            assert np.isfinite(to_numpy(by_weight)).all()
    np.testing.assert_array_equal(gradient[1], 0)
    np.testing.assert_allclose(gradient[others], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", VALUES)
def test_an_entry_without_a_value_leaves_the_others_alone_on_numpy(name):
    rng = np.random.default_rng(31)
    label, score = np.asarray([[0, 1, 1, 0]] * 3), rng.normal(size=(3, 4))
    weight = np.asarray([[1.0, 2.0, 1.0, 0.5], [0.0] * 4, [1.0] * 4])
    value, gradient = with_gradient(name)(label, score, sample_weight=weight)
    np.testing.assert_array_equal(gradient[1], 0)
    for row in (0, 2):
        one = with_gradient(name)(label[row], score[row], sample_weight=weight[row])
        np.testing.assert_allclose(value[row], one[0], rtol=1e-14)
        np.testing.assert_allclose(gradient[row], one[1], rtol=1e-12, atol=1e-15)
