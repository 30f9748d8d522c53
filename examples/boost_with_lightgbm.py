"""
Boost trees with LightGBM
=========================

``boosting_objective`` gives the gradient and the diagonal of the Hessian of a convex surrogate;
LxCIM itself is the metric that stops the training.
"""

import sys

try:
    import lightgbm
except ImportError as error:
    sys.exit(print(f"This example needs LightGBM: {error}"))

import numpy as np

from lxcim_xp import lxcim
from lxcim_xp.losses import boosting_objective

rng = np.random.default_rng(0)
x = rng.normal(size=(3000, 4))
chance = 1 / (1 + np.exp(-(3 * np.sin(2 * x[:, 0]) + x[:, 1])))
y = (rng.random(3000) < chance).astype(int)

model = lightgbm.LGBMRegressor(
    objective=boosting_objective(),
    n_estimators=200,
    num_leaves=8,
    learning_rate=0.2,
    verbose=-1,
)
model.fit(
    x[:1000],
    y[:1000],
    eval_X=x[1000:2000],
    eval_y=y[1000:2000],
    eval_metric=lambda y_true, y_score: ("lxcim", lxcim(y_true, y_score), True),
    callbacks=[lightgbm.early_stopping(10, verbose=False)],
)
found = lxcim(y[2000:], model.predict(x[2000:]))
print(f"{model.best_iteration_} trees, held-out LxCIM {found:.3f}")
