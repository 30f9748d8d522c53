"""Ask methods about pairs, in several processes, such that an interrupted run can go on."""

import contextlib
import functools
import importlib.util
import math
import multiprocessing
import os
import queue
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from data import Pair

CHUNK = 4  # pairs that a process takes at a time
ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class Answer(NamedTuple):
    """What a method says about a pair; NaN with a reason where it says nothing."""

    method: str
    number: int
    score: float
    reason: str = ""


class _Job(NamedTuple):
    """A method, as it is called on the command line, and the places of the pairs it is asked."""

    name: str
    clean: bool
    places: tuple[int, ...]


def title_of(name: str) -> str:
    """Return what a method is called in tables: its name, or that of a function in a file."""
    from methods import METHODS

    title = name.rpartition(":")[2]
    return {known.lower(): known for known in METHODS}.get(name.lower(), title)


def find_method(name: str, clean: bool = False) -> Callable[..., float]:
    """Return one of the sixteen by its name, or a function by ``FILE.py:function``."""
    from methods import CLEAN, METHODS

    if ":" not in name:
        name = title_of(name)
        if name not in METHODS:
            raise ValueError(
                f"There is no method {name!r}. Choose from {', '.join(METHODS)}, "
                "or name a function of yours: FILE.py:function."
            )
        return CLEAN.get(name, METHODS[name]) if clean else METHODS[name]
    path, _, function = name.rpartition(":")
    if function in METHODS:
        raise ValueError(f"{name} has the name of one of the sixteen. Give it one of its own.")
    if not Path(path).is_file():
        raise ValueError(f"There is no file {path!r} with a method {function!r}.")
    method = getattr(_module(path), function, None)
    if not callable(method):
        raise ValueError(f"{path} has no function {function!r}.")
    return method


def by_title(names: Iterable[str], clean: bool = False) -> dict[str, str]:
    """Return the methods, as they are called on the command line, by what tables call them."""
    found: dict[str, str] = {}
    for name in names:
        method, title = find_method(name, clean), title_of(name)
        if find_method(found.setdefault(title, name), clean) is not method:
            raise ValueError(
                f"{found[title]} and {name} are both called {title}. Give them different names."
            )
    return found


@functools.cache  # a file is run once in a process, however many of its functions are asked
def _module(path: str) -> ModuleType:
    # Registered, which dataclasses ask for, under a name that hides no other module.
    spec = importlib.util.spec_from_file_location(f"_methods_in_{Path(path).stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file.")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module


def ask(
    questions: Mapping[str, Sequence[int]], pairs: Sequence[Pair], *, clean: bool, processes: int
) -> Iterator[Answer]:
    """Yield answers as they come: of each method, about the pairs in these places.

    A method that raises gives no answer, and the others go on.
    """
    if not any(questions.values()):
        return
    context = multiprocessing.get_context("spawn")  # JAX does not survive a fork
    answers = context.Queue()
    with one_thread_each():
        pool = ProcessPoolExecutor(
            processes, context, initializer=_start, initargs=(answers, tuple(pairs))
        )
        try:
            running = [pool.submit(_work, job) for job in _jobs(questions, pairs, clean)]
            ended = 0
            while ended < len(running):
                answer = _next(answers, running)
                if answer is None:
                    ended += 1
                else:
                    yield answer
        finally:
            # Nobody waits for answers any more: not after an interrupt, nor where a process died.
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)


def _next(answers: "multiprocessing.Queue[Answer | None]", running: list[Future]) -> Answer | None:
    """Return the next answer, None at the end of a job; raise what ended a process."""
    while True:
        try:
            return answers.get(timeout=1)
        except queue.Empty:
            for job in running:
                if job.done():
                    job.result()


def _jobs(questions: Mapping[str, Sequence[int]], pairs: Sequence[Pair], clean: bool) -> list[_Job]:
    """Return what is to be done, the longest first: batches, then pairs with many samples."""
    from methods import BATCHES

    whole, parts = [], []
    for name, places in questions.items():
        if find_method(name, clean) in BATCHES:
            whole.append(_Job(name, clean, tuple(places)))
            continue
        longest = sorted(places, key=lambda place: -len(pairs[place].x))
        parts += [
            _Job(name, clean, tuple(longest[start : start + CHUNK]))
            for start in range(0, len(longest), CHUNK)
        ]
    parts.sort(key=lambda job: -sum(len(pairs[place].x) for place in job.places))
    return [job for job in whole + parts if job.places]


_inbox: tuple["multiprocessing.Queue[Answer | None]", tuple[Pair, ...]]  # of a process


def _start(answers: "multiprocessing.Queue[Answer | None]", pairs: tuple[Pair, ...]) -> None:
    global _inbox
    _inbox = answers, pairs
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the one who asks
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process once nobody waits for its answers: the one who asks may be killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work(job: _Job) -> None:
    answers, pairs = _inbox
    for answer in _answers(job, pairs):
        answers.put(answer)
    answers.put(None)


def _answers(job: _Job, pairs: Sequence[Pair]) -> Iterator[Answer]:
    """Yield what a method says about its pairs; any error is a reason for no answer."""
    from methods import BATCHES

    method, title = find_method(job.name, job.clean), title_of(job.name)
    left = set(job.places)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method in BATCHES:
            try:
                for at, found in BATCHES[method]([pairs[place][1:3] for place in job.places]):
                    left.discard(job.places[at])
                    yield _answer(title, pairs[job.places[at]].number, found)
            except Exception as error:
                for place in sorted(left):
                    yield _answer(title, pairs[place].number, error)
            return
        for place in job.places:
            try:
                # Copies: a method may write to what it gets.
                found = _number(method(pairs[place].x.copy(), pairs[place].y.copy()))
            except (Exception, SystemExit) as error:
                found = error
            yield _answer(title, pairs[place].number, found)


def _number(found: Any) -> float:
    """Return the number that a method returned; an array of one is a number, None is NaN."""
    if found is None:
        return math.nan
    array = np.asarray(found)
    if array.size != 1 or array.dtype.kind not in "biufO" or np.ma.is_masked(found):
        raise TypeError(f"The method returned {found!r:.80}, which is not one number.")
    return float(array.reshape(-1)[0])


def _answer(title: str, number: int, found: float | BaseException) -> Answer:
    if isinstance(found, BaseException):
        kind = "" if type(found).__name__ == "NoAnswer" else f"{type(found).__name__}: "
        return Answer(title, number, math.nan, kind + " ".join(str(found).split()))
    if not math.isfinite(found):
        return Answer(title, number, math.nan, "The score is not a finite number.")
    return Answer(title, number, float(found))


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Give one thread to each process that starts here, or they are in each other's way."""
    new = {name: value for name, value in ONE_THREAD.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            del os.environ[name]
