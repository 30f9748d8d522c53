"""Errors have fields, which arrays word with the names of arguments."""

import pickle

import pytest

import lxcim_xp as lx
from lxcim_xp._samples.errors import BadType, BadValue, Given, Wording

ODD = "{place} of {0} }{"  # a name that is no text of ours


def raised(*samples, **options):
    with pytest.raises(BadValue) as caught:
        lx.lxcim(*samples, **options)
    return caught.value


def test_an_error_of_arrays_has_the_fields_of_its_message():
    error = raised([1, 0, 2], [1.0, 2.0, 3.0])
    assert isinstance(error, ValueError)
    assert (error.argument, error.position, error.row) == ("y_true", 2, None)
    assert error.facts == {"value": 2.0}
    assert str(error) == error.args[0] == error.worded(Wording())
    assert str(error) == (
        "y_true must hold 0/1 or -1/+1; found 2 at position 2. Pass y_true == positive_label."
    )


def test_a_place_in_a_batch_has_one_number_for_each_axis():
    error = raised(1, [[1.0, 2.0]], sample_weight=[[1.0, -1.0]])
    assert (error.argument, error.position) == ("sample_weight", (0, 1))
    assert "found -1 at position (0, 1). Drop such samples with where= or" in str(error)


@pytest.mark.parametrize("kind", [BadValue, BadType])
def test_errors_survive_the_way_to_another_process(kind):
    error = kind(
        Given("by", ODD),
        "is {odd} {place}, with {positive} and {y_score}",
        "Pass {where:=} or {nan_policy:'omit'}.",
        row=3,
        odd=ODD,
        positive=Given("positive", "yes"),
    )
    assert str(error) == (
        f"by={ODD!r} is {ODD} in row 3, with positive='yes' and y_score. Pass where= or "
        f"nan_policy='omit'."
    )
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert (again.argument, again.row, again.facts) == (error.argument, 3, error.facts)
