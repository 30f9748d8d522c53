"""
Boost trees with XGBoost
========================

``boosting_objective`` gives the gradient and the diagonal of the Hessian of a convex surrogate;
AUGRC, which is (1 - LxCIM) / 2 and better when smaller, is the metric that stops the training.
"""

import sys

try:
    import xgboost
except ImportError as error:
    sys.exit(print(f"This example needs XGBoost: {error}"))

import numpy as np

from lxcim_xp import augrc, lxcim
from lxcim_xp.losses import boosting_objective

rng = np.random.default_rng(0)
x = rng.normal(size=(3000, 4))
chance = 1 / (1 + np.exp(-(3 * np.sin(2 * x[:, 0]) + x[:, 1])))
y = (rng.random(3000) < chance).astype(int)

model = xgboost.XGBRegressor(
    objective=boosting_objective(),
    eval_metric=lambda y_true, y_score: float(augrc(y_true, y_score)),
    base_score=0.0,
    early_stopping_rounds=10,
    n_estimators=200,
    max_depth=3,
    learning_rate=0.2,
)
model.fit(x[:1000], y[:1000], eval_set=[(x[1000:2000], y[1000:2000])], verbose=False)
found = lxcim(y[2000:], model.predict(x[2000:]))
print(f"{model.best_iteration + 1} trees, held-out LxCIM {found:.3f}")
