"""
Train with PyTorch
==================

The loss takes tensors, and its gradient has a closed form. On mini-batches it is unbiased if pairs
of a sample with itself are left out and the temperature does not depend on the batch.
"""

import sys

try:
    import torch
except ImportError as error:
    sys.exit(print(f"This example needs PyTorch: {error}"))

from lxcim_xp import lxcim
from lxcim_xp.losses import combined

generator = torch.Generator().manual_seed(0)
features = torch.randn((2, 2000, 4), generator=generator)
chance = torch.sigmoid(features @ torch.tensor([2.0, -1.0, 0.5, 0.0]))
(x, x_test), (y, y_test) = features, torch.bernoulli(chance, generator=generator)

weights = torch.zeros(4, requires_grad=True)
optimizer = torch.optim.Adam([weights], lr=0.05)
before = lxcim(y_test, (x_test @ weights).detach())
for _ in range(10):
    for batch in torch.randperm(len(x), generator=generator).split(100):
        optimizer.zero_grad()
        loss = combined(y[batch], x[batch] @ weights, unbiased=True, scale=1.0)
        loss.backward()
        optimizer.step()
after = lxcim(y_test, (x_test @ weights).detach())
print(f"last loss {loss.item():.3f}, held-out LxCIM {before.item():.3f} -> {after.item():.3f}")
