"""
A stream that does not fit into memory
======================================

Predictions arrive in chunks, ten million in all by default, and no chunk is kept. A sketch of each
is merged into one state of 164 kB, which knows the accuracy exactly and LxCIM within guaranteed
bounds. The scores are probabilities of an overconfident model, most of them close to 0 or 1. Pass
another number of samples as the second argument, 1e8 say: memory stays the same, and only the time
grows. Unlike a stream, the generator here can draw its chunks again, so at the end the bounds are
compared with the exact LxCIM of a part that fits into memory.
"""

import sys
import tracemalloc

import numpy as np

import lxcim_xp as lx

TOTAL = int(float(sys.argv[2])) if len(sys.argv) > 2 else 10**7
CHUNK = 500_000
AROUND_HALF = lx.probability()


def chunks(total):
    """Draw labels and the probabilities that a model gives them, chunk by chunk."""
    for number, start in enumerate(range(0, total, CHUNK)):
        rng = np.random.default_rng(number)
        log_odds = rng.standard_normal(min(CHUNK, total - start))
        label = rng.random(log_odds.size) < 1 / (1 + np.exp(-log_odds))
        yield label, 1 / (1 + np.exp(-8 * log_odds))


def sketched(total):
    """Return the sketch of a stream."""
    state = None
    for label, score in chunks(total):
        part = lx.sketch(label, score, decision=AROUND_HALF)
        state = part if state is None else lx.merge(state, part)
    return state


tracemalloc.start()
state = sketched(TOTAL)
peak = tracemalloc.get_traced_memory()[1]
tracemalloc.stop()
size = sum(np.asarray(field).nbytes for field in state)
print(f"samples {state.count.sum()}, state {size / 1e3:.0f} kB, peak {peak / 1e6:.0f} MB")
print(f"accuracy {lx.sketch_accuracy(state):.6f}")
for name, bounds in (("LxCIM", lx.lxcim_bounds(state)), ("AUDRC", lx.audrc_bounds(state))):
    print(f"{name}    between {bounds.low:.6f} and {bounds.high:.6f}, about {bounds.estimate:.6f}")

label, score = (np.concatenate(parts) for parts in zip(*chunks(2 * CHUNK), strict=True))
part = lx.lxcim_bounds(sketched(2 * CHUNK))
exact = lx.lxcim(label, score, decision=AROUND_HALF)
print(f"two chunks: exactly {exact:.6f}, between {part.low:.6f} and {part.high:.6f}")
assert part.low <= exact <= part.high
