"""What the paper's table says of each method, in percent.

Brogueira and Figueiredo, "LxCIM: a new rank-based binary classifier performance metric invariant
to local exchange of classes". The paper evaluates each method on the pairs that it answered, of
108; its AUROC is that of one random naming of cause and effect.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """One row of the paper's table."""

    lxcim: float
    accuracy: float
    auroc: float
    audrc: float


PUBLISHED = {
    "ANM": Row(61.7, 60.4, 61.1, 62.9),
    "bQCD": Row(71.1, 69.6, 70.8, 70.1),
    "CAM": Row(45.7, 52.3, 46.5, 43.1),
    "CDCI": Row(59.4, 61.5, 61.1, 55.0),
    "CDS": Row(60.2, 60.5, 58.6, 57.8),
    "CGNN": Row(62.8, 61.5, 63.6, 69.6),
    "FOM": Row(46.1, 45.5, 46.1, 40.9),
    "HECI": Row(74.1, 70.5, 73.6, 79.2),
    "IGCI": Row(70.0, 60.9, 68.1, 73.3),
    "LCUBE": Row(62.4, 58.9, 62.2, 70.1),
    "LOCI": Row(59.4, 61.5, 58.6, 49.5),
    "NNCL": Row(63.6, 55.2, 64.0, 63.4),
    "RECI": Row(76.1, 70.5, 77.3, 75.7),
    "ROCHE": Row(56.7, 53.0, 58.0, 53.7),
    "SLOPE": Row(81.1, 73.3, 82.0, 86.4),
    "SLOPPY": Row(79.4, 72.6, 78.9, 85.3),
}
