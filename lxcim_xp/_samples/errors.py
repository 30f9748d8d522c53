"""Errors as fields, which each layer puts into words for its own readers.

Functions of arrays have arguments and positions, frames have columns and rows, the command line has
options and lines. An error says which argument is bad, what is wrong with it, where, and what to
do; a ``Wording`` says what these are called. Texts name arguments in braces: ``{y_score}`` mentions
one, ``{where:=}`` tells the user to pass it, ``{nan_policy:'omit'}`` to pass it with this value.
Any other name in braces is a fact stored with the error, so braces in users' names and values are
never taken for fields.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

# Remedies that other layers replace by their own.
DROP_OR_WEIGH = "Drop such samples with {where:=} or give them weight 0."
SAY_WHICH_IS_POSITIVE = "Pass y_true == positive_label."
SAY_HOW_SCORES_MIRROR = "Pass its {domain:=} or {mirror:=}."


class Given(NamedTuple):
    """An argument together with the value that was passed."""

    name: str
    value: Any


class Wording:
    """What things are called when a Python function is called with arguments."""

    instead: ClassVar[Mapping[str, str]] = {}  # texts to replace by others

    def argument(self, name: str) -> str:
        """Return what to call an argument that is mentioned."""
        return name

    def option(self, name: str, value: str = "") -> str:
        """Return how to pass an argument, with the value spelled as in Python."""
        return f"{name}={value}"

    def position(self, position: int | tuple[int, ...]) -> str:
        """Say where in an array something is."""
        return f"at position {position}"

    def row(self, row: int) -> str:
        """Say where in a table something is."""
        return f"in row {row}"

    def say(self, text: str, facts: Mapping[str, Any]) -> str:
        """Fill in a text."""
        known = {name: self.given(fact) for name, fact in facts.items()}
        return self.instead.get(text, text).format_map(_Fields(known, self))

    def given(self, fact: Any) -> Any:
        """Return an argument and its value in words, and any other fact as it is."""
        return self.option(fact.name, repr(fact.value)) if isinstance(fact, Given) else fact


class _Fields(dict[str, Any]):
    """The facts of an error; any other name is the name of an argument."""

    def __init__(self, facts: Mapping[str, Any], wording: Wording) -> None:
        super().__init__(facts)
        self.wording = wording

    def __missing__(self, name: str) -> "_Argument":
        return _Argument(name, self.wording)


class _Argument(NamedTuple):
    name: str
    wording: Wording

    def __format__(self, value: str) -> str:
        if not value:
            return self.wording.argument(self.name)
        return self.wording.option(self.name, value.removeprefix("="))


class Complaint(Exception):
    """What is wrong with an argument, where, and what to do about it.

    Parameters
    ----------
    argument : str or Given
        What is bad.
    problem : str
        What is wrong with it, a text that goes on after the name; ``{place}`` is where.
    remedy : str, default ""
        What to do, in sentences of its own.
    position : int or tuple of int, optional
        Where in an array.
    row : int, optional
        Where in a table instead.
    **facts : object
        What the texts name in braces.
    """

    def __init__(
        self,
        argument: str | Given,
        problem: str,
        remedy: str = "",
        *,
        position: int | tuple[int, ...] | None = None,
        row: int | None = None,
        **facts: Any,
    ) -> None:
        self.argument, self.problem, self.remedy = argument, problem, remedy
        self.position, self.row, self.facts = position, row, facts
        super().__init__(self.worded(Wording()))

    def worded(self, wording: Wording) -> str:
        """Return the message in the words of a layer."""
        facts = dict(self.facts)
        if self.row is not None:
            facts["place"] = wording.row(self.row)
        elif self.position is not None:
            facts["place"] = wording.position(self.position)
        bad = self.argument
        about = wording.argument(bad) if isinstance(bad, str) else wording.given(bad)
        said = f"{about} {wording.say(self.problem, facts)}."
        return f"{said} {wording.say(self.remedy, facts)}" if self.remedy else said

    def __reduce__(self) -> tuple[Any, ...]:
        named = {"position": self.position, "row": self.row, **self.facts}
        return _rebuild, (type(self), self.argument, self.problem, self.remedy, named)


def _rebuild(kind: type[Complaint], argument: Any, problem: str, remedy: str, named: Any) -> Any:
    """Rebuild an error that was sent to another process."""
    return kind(argument, problem, remedy, **named)


class BadValue(Complaint, ValueError):
    """An argument has a value that it must not have."""


class BadType(Complaint, TypeError):
    """An argument has a type that it must not have."""
