"""The sentences of a report, and numbers as people read them.

Facts come in and plain text goes out, which the page escapes. An undefined number is a dash.
"""

import math
from collections.abc import Sequence
from typing import Any

from lxcim_xp._samples.decisions import Decision, absolute
from lxcim_xp.decision import asymmetric, confidence, logit, probability
from lxcim_xp.report.facts import Headline, Namings, Pair
from lxcim_xp.report.reject_option import Threshold

NONE = "\N{EN DASH}"
_NAMED = 5  # how many differences are put into words


def number(value: float, digits: int = 3) -> str:
    """Return a number with a fixed number of decimals."""
    return NONE if math.isnan(value) else _minus(f"{value:.{digits}f}")


def signed(value: float) -> str:
    """Return a difference, with its sign."""
    return NONE if math.isnan(value) else _minus(f"{value:+.3f}")


def significant(value: float) -> str:
    """Return a number of any size with four digits."""
    return NONE if math.isnan(value) else _minus(f"{value:.4g}".replace("inf", "∞"))


def percent(value: float) -> str:
    """Return a share in percent."""
    return NONE if math.isnan(value) else f"{100 * value:.1f}".removesuffix(".0") + " %"


def p_value(value: float) -> str:
    """Return a p-value; very small ones as a bound."""
    if math.isnan(value):
        return NONE
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def scores_of(threshold: Threshold) -> str:
    """Return the scores that are decided at a threshold."""
    if math.isnan(threshold.confidence):
        return "nothing is decided"
    if threshold.confidence == 0 and not math.isnan(threshold.below):
        return "all"  # a confidence that was given has no other side, and may be below 0
    sides = (("≥", threshold.above), ("≤", threshold.below))
    return " or ".join(f"{sign} {significant(at)}" for sign, at in sides if not math.isnan(at))


def key_text(value: Any) -> str:
    """Return a key of a subgroup, a dash where it is missing."""
    return NONE if value is None else str(value)


def in_words(found: Headline, coin_rate: float, level: float, *, clustered: bool) -> list[str]:
    """Return sentences on what the numbers of one model mean."""
    sentences = [decomposed(found), _coin(found, level)]
    if not math.isnan(found.uninformative_p_value):
        sentences.append(_uninformative(found, level))
    if 0 < coin_rate < 1 and not math.isnan(found.confidence_auroc):
        sentences.append(
            f"Beyond the most confident {percent(coin_rate)}, decisions are no better than a "
            f"coin's in these data."
        )
    if clustered:
        sentences.append(
            "Both tests take rows as independent of each other, which the column of groups says "
            "they are not: trust the intervals."
        )
    return sentences


def decomposed(found: Headline) -> str:
    """Return how accuracy and confidence make up LxCIM of one model."""
    accuracy, lxcim = found.accuracy.value, found.lxcim.value
    if math.isnan(found.confidence_auroc):
        every = "right" if accuracy > 0.5 else "wrong"
        return (
            f"All decisions are {every}, so confidence has nothing to tell apart: LxCIM is "
            f"{number(lxcim)}, like the accuracy."
        )
    if found.undecided == 1:
        return (
            f"Nothing is decided, and what is undecided counts half: accuracy and LxCIM are "
            f"{number(lxcim)}."
        )
    of_100 = f"Of 100 decisions {_of_100(accuracy)} are right"
    ranked, than, this = "A right decision is", "a wrong one", "this"
    if found.is_split:
        of_100 = f"Decisions agree with {_of_100(accuracy)} of 100 votes"
        ranked, than = "A decision with a vote on its side is", "one with a vote against it"
    if found.undecided > 0:
        of_100 += ", undecided ones counting half"
        ranked = f"Among decided ones, {ranked[0].lower()}{ranked[1:]}"
        this = "with undecided ones as the least confident, this"
    cases = (
        f"{ranked} more confident than {than} in {_of_100(found.decided_auroc)} of 100 cases, "
        f"ties counting half"
    )
    if math.isnan(found.decided_auroc):
        cases = f"All decided ones are {'right' if accuracy > 0.5 else 'wrong'}"
    adds = found.gain >= 0
    change = f"adds {number(found.gain)} to" if adds else f"takes {number(-found.gain)} from"
    return (
        f"{of_100}. {cases}; {this} {change} the accuracy "
        f"{number(accuracy)}: LxCIM {number(lxcim)}."
    )


def on_auroc(auroc: float, found: Namings, *, has_labels: bool, is_confidence: bool) -> str:
    """Return how much AUROC depends on the naming of the sides."""
    if is_confidence and not math.isnan(auroc):
        return (
            "Labels say which decisions were right, so this is how often a right decision is more "
            "confident than a wrong one."
        )
    if not has_labels:
        return (
            "The scores are margins of the right side over the wrong one. No side is called "
            "positive, so AUROC has no value."
        )
    if math.isnan(auroc):
        return "All labels are of one class, so AUROC has no value."
    depends = "It depends on which side is called positive"
    if not found.draws:
        return f"{depends}; random namings were not drawn for so many samples."
    return (
        f"{depends}: {number(found.low)} to {number(found.high)} over {found.draws} random namings "
        f"of the same predictions."
    )


def on_pairs(pairs: Sequence[Pair], level: float) -> str:
    """Return which differences between models are established."""
    at = f"at level {percent(1 - level)}, adjusted for {_count(len(pairs), 'comparison')}"
    sure = [pair for pair in pairs if pair.adjusted_p_value < 1 - level]
    if not sure:
        return (
            f"No difference in LxCIM is established ({at}). That does not show that there is none."
        )
    said = []
    for pair in sorted(sure, key=lambda pair: -abs(pair.difference))[:_NAMED]:
        better, worse = pair.first, pair.second
        if pair.difference < 0:
            better, worse = worse, better
        said.append(f"{better} is better than {worse} by {number(abs(pair.difference))}")
    rest = len(pairs) - len(sure)
    more = f"; and {len(sure) - _NAMED} more, see the table" if len(sure) > _NAMED else ""
    others = f" {_count(rest, 'other difference')} could be chance." if rest else ""
    return f"Established ({at}): {'; '.join(said)}{more}.{others}"


def decision_call(decision: Decision) -> str:
    """Return the argument that passes a decision function; empty for the default."""
    if decision == absolute():
        return ""
    for made, name in (
        (probability(), "probability"),
        (logit(), "logit"),
        (confidence(), "confidence"),
    ):
        if decision == made:
            return f"decision=lx.{name}()"
    if decision == absolute(decision.threshold):
        return f"threshold={decision.threshold!r}"
    if decision.signed is asymmetric().signed:
        scales = ", ".join(map(repr, decision.parameters))
        return f"decision=lx.asymmetric({decision.threshold!r}, {scales})"
    return "decision=decision"


def decision_words(decision: Decision) -> str:
    """Return how a score becomes a decision and a confidence."""
    if decision.is_confidence:
        return (
            "Scores are the confidences of decisions that were made before; nothing but their "
            "order matters."
        )
    at = significant(float(decision.threshold))
    if decision == probability():
        how = _minus("max(p, 1 - p) - 0.5")
    elif decision == logit():
        how = "the absolute log-odds"
    elif decision == absolute(decision.threshold):
        how = f"the distance of the score from {at}"
    elif decision.signed is asymmetric().signed:
        below, above = map(significant, decision.parameters)
        how = f"the distance of the score from {at}, in units of {below} below and {above} above it"
    else:
        how = "a function of the score that the caller gave"
    return f"Scores above {at} decide for the positive side; the confidence is {how}."


def _coin(found: Headline, level: float) -> str:
    p = found.coin_p_value
    if math.isnan(p):
        return "The decisions cannot be compared with a coin's."
    beyond = (
        f"If fair coins decided, LxCIM would be as far from 0.5 with probability {_p_in_words(p)}"
    )
    if p < 1 - level:
        side = "better" if found.lxcim.value > 0.5 else "worse"
        return f"{beyond}: the decisions are {side} than a coin's."
    return f"{beyond}: this is no evidence of a difference from a coin."


def _uninformative(found: Headline, level: float) -> str:
    p = found.uninformative_p_value
    beyond = (
        f"If confidence said nothing, right and wrong decisions would differ in it as much with "
        f"probability {_p_in_words(p)}"
    )
    if p >= 1 - level:
        return f"{beyond}: it is not shown that confidence tells right decisions from wrong ones."
    if found.decided_auroc > 0.5:
        return f"{beyond}: confidence does tell right decisions from wrong ones."
    return f"{beyond}: wrong decisions are the more confident ones."


def _p_in_words(p: float) -> str:
    return p_value(p).replace("<", "below")


def _of_100(share: float) -> str:
    """Return a share of 100: 0 or 100 only if it is exactly that."""
    shown = f"{100 * share:.0f}"
    if shown in ("0", "100") and share not in (0, 1):
        shown = f"{min(max(100 * share, 0.1), 99.9):.1f}"
    return shown


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")
