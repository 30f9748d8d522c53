"""The Python calls that give the numbers of a report, as text that runs.

In this text ``frame`` is the frame of the report, and ``decision`` a decision function of the
caller's own.
"""

from lxcim_xp._metric_table import IN_FRAMES, OF_MARGINS
from lxcim_xp.report.predictions import Predictions
from lxcim_xp.report.wording import decision_call


def code_of(given: Predictions, level: float) -> str:
    """Return the calls for the first model, and the comparison of all models."""
    parts, has_labels = given.reading.parts, given.reading.has_labels
    options, drawn = [], ""
    lines = [*(["import numpy as np", ""] if parts.ties == "half" else [])]
    lines += ["import lxcim_xp as lx", ""]
    if parts.nan_policy == "omit":  # in arrays, only scores may be missing
        lines += ["# frame: the rows without a missing value in these columns"]
    if parts.ties == "omit":
        sides = f"{parts.positive!r} or {parts.negative!r}"
        lines += [f"# frame: the rows whose {parts.label!r} is {sides}"]
    label = "1  # the scores are margins of the right side"
    if has_labels:
        label = f"frame[{parts.label!r}].to_numpy()"
        if parts.ties == "half":
            is_positive, is_negative = (
                f"{label} == {side!r}" for side in (parts.positive, parts.negative)
            )
            label = f"np.where({is_positive}, 1.0, np.where({is_negative}, 0.0, 0.5))"
        elif parts.positive is not None:
            label = f"{label} == {parts.positive!r}"
    lines += [f"y = {label}", f"s = {_score(given, parts.scores[0])}"]
    if parts.weight is not None:
        lines.append(f"w = frame[{parts.weight!r}].to_numpy()")
        options.append("sample_weight=w")
    if parts.clusters is not None:
        lines.append(f"g = frame[{parts.clusters!r}].to_numpy()")
        drawn = ", groups=g"
    options += [option for option in [decision_call(parts.decision)] if option]
    if parts.nan_policy == "abstain":
        options.append('nan_policy="abstain"')
    and_options = "".join(f", {option}" for option in options)
    for metric in IN_FRAMES if has_labels else OF_MARGINS:
        lines.append(
            f'{metric} = lx.interval(y, s, metric="{metric}", level={level}{drawn}{and_options})'
        )
    lines += [
        f"parts = lx.decomposition(y, s{and_options})",
        f'coin = lx.significance(y, s, null="coin"{and_options})',
        *(
            []
            if given.models[0].is_split
            else [f'uninformative = lx.significance(y, s, null="uninformative"{and_options})']
        ),
        f"curve = lx.cumulative_accuracy_curve(y, s{and_options})",
        f"half = lx.accuracy_at(y, s, 0.5, level=None{and_options})",
    ]
    if len(given.models) > 1:
        models = ", ".join(f"{name!r}: {_score(given, name)}" for name in parts.scores)
        lines += [
            f"models = {{{models}}}",
            f"pairs = lx.compare_all(y, models, level={level}{drawn}{and_options})",
        ]
    if parts.by:
        named = [f"label={parts.label!r}" if has_labels else "label=None"]
        named += [f"score={_columns(given, parts.scores[0])!r}", f"by={list(parts.by)!r}"]
        named += [f"positive={parts.positive!r}"] if parts.positive is not None else []
        if parts.negative is not None:
            named += [f"negative={parts.negative!r}, ties={parts.ties!r}"]
        named += [f"weight={parts.weight!r}"] if parts.weight is not None else []
        named += [f"groups={parts.clusters!r}"] if parts.clusters is not None else []
        named += [option for option in options if not option.startswith("sample_weight")]
        lines += [
            "",
            "from lxcim_xp import frames",
            "",
            f"table = frames.evaluate(frame, {', '.join(named)}, interval={level})",
        ]
    return "\n".join(lines)


def _columns(given: Predictions, name: str) -> str | tuple[str, str]:
    """Return the column of a score, or the pair whose difference it is."""
    for made in given.reading.parts.differences:
        if made.name == name:
            return made.first, made.second
    return name


def _score(given: Predictions, name: str) -> str:
    columns = _columns(given, name)
    if isinstance(columns, str):
        return f"frame[{columns!r}].to_numpy()"
    first, second = (f"frame[{column!r}].to_numpy()" for column in columns)
    return f"lx.choices.difference({first}, {second})"
