"""Losses to train on, and the form that boosting libraries take; see :mod:`lxcim_xp.soft`."""

from lxcim_xp.soft.losses import boosting_objective, combined, lxcim_loss, lxcim_surrogate

__all__ = ["boosting_objective", "combined", "lxcim_loss", "lxcim_surrogate"]
