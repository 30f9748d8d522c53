"""The sixteen methods of the paper: each takes two variables and says which causes the other.

``METHODS`` are in the paper's mode, which is what its run computed; ``CLEAN`` has those that their
own papers mean otherwise. ``BATCHES`` has the neural ones for many pairs at once: they take a list
of (x, y) and yield (place, score or the NoAnswer) as they go.

A method is any callable ``(x, y) -> float``, positive when it says that x causes y.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .anm import anm
from .bqcd import bqcd
from .cam import cam, cam_clean
from .cdci import cdci
from .cds import cds
from .cgnn import cgnn, cgnn_of_pairs
from .fom import fom, fom_clean
from .heci import heci
from .igci import igci
from .inputs import NoAnswer
from .lcube import lcube, lcube_clean
from .loci import loci, loci_clean, loci_clean_of_pairs, loci_of_pairs
from .nncl import nncl
from .reci import reci
from .roche import roche, roche_clean, roche_clean_of_pairs, roche_of_pairs
from .slope import slope
from .sloppy import sloppy

__all__ = ["BATCHES", "CLEAN", "METHODS", "NoAnswer"]

Method = Callable[[np.ndarray, np.ndarray], float]
Batches = Callable[
    [Sequence[tuple[np.ndarray, np.ndarray]]], Iterator[tuple[int, float | NoAnswer]]
]

METHODS: dict[str, Method] = {
    "ANM": anm,
    "bQCD": bqcd,
    "CAM": cam,
    "CDCI": cdci,
    "CDS": cds,
    "CGNN": cgnn,
    "FOM": fom,
    "HECI": heci,
    "IGCI": igci,
    "LCUBE": lcube,
    "LOCI": loci,
    "NNCL": nncl,
    "RECI": reci,
    "ROCHE": roche,
    "SLOPE": slope,
    "SLOPPY": sloppy,
}
CLEAN: dict[str, Method] = {
    "CAM": cam_clean,
    "FOM": fom_clean,
    "LCUBE": lcube_clean,
    "LOCI": loci_clean,
    "ROCHE": roche_clean,
}
BATCHES: dict[Any, Batches] = {
    cgnn: cgnn_of_pairs,
    loci: loci_of_pairs,
    loci_clean: loci_clean_of_pairs,
    roche: roche_of_pairs,
    roche_clean: roche_clean_of_pairs,
}
