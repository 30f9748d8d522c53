"""Arrays in, arrays out: orderings, bisection, distributions, isotonic regression."""
