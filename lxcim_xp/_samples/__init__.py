"""From the arguments of a call to numbers: checks, clean samples, margins, sums, formulas."""
