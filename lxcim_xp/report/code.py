"""The Python calls that give the numbers of a report, as text that runs.

The text takes ``frame`` for the frame of the report, and ``decision`` for a decision function that
has no name of its own.
"""

from lxcim_xp._report_samples import Predictions
from lxcim_xp._report_words import decision_call


def code_of(given: Predictions, level: float) -> str:
    """Return calls for the first model, and for all where models are compared."""
    parts = given.parts
    options, drawn = [], ""
    lines = ["import lxcim_xp as lx", ""]
    if parts.nan_policy == "omit":  # of arrays, only scores may be missing
        lines += ["# frame: the rows without a missing value in these columns"]
    label = "1  # the scores are margins of the right side"
    if given.has_labels:
        label = f"frame[{parts.label!r}].to_numpy()"
        if parts.positive is not None:
            label = f"{label} == {parts.positive!r}"
    lines += [f"y = {label}", f"s = frame[{parts.scores[0]!r}].to_numpy()"]
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
    for metric in ("lxcim", "accuracy", "audrc"):
        lines.append(
            f'{metric} = lx.interval(y, s, metric="{metric}", level={level}{drawn}{and_options})'
        )
    if given.has_labels:
        lines.append(f"auroc = lx.auroc(y, s{and_options})")
    exact = level if parts.weight is None and parts.clusters is None else None
    lines += [
        f"parts = lx.decomposition(y, s{and_options})",
        f'coin = lx.significance(y, s, null="coin"{and_options})',
        f'uninformative = lx.significance(y, s, null="uninformative"{and_options})',
        f"curve = lx.cumulative_accuracy_curve(y, s{and_options})",
        f"half = lx.accuracy_at(y, s, 0.5, level={exact}{and_options})",
    ]
    if len(given.models) > 1:
        models = ", ".join(f"{name!r}: frame[{name!r}].to_numpy()" for name in parts.scores)
        lines += [
            f"models = {{{models}}}",
            f"pairs = lx.compare_all(y, models, level={level}{drawn}{and_options})",
        ]
    if parts.by and given.has_labels:
        named = [f"label={parts.label!r}", f"score={parts.scores[0]!r}", f"by={list(parts.by)!r}"]
        named += [f"positive={parts.positive!r}"] if parts.positive is not None else []
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
