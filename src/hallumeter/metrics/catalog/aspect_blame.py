"""Metrics of the steps of an aspect pipeline: who introduces errors, who sees them, who repairs and who breaks."""

from functools import partial

from hallumeter.metrics.aspects.blame import blame_rates

from .metric import Metric

_OURS = "hallumeter, of the states and logs that the Korean ABSA agents ask for"
_UNITS = (
    "Units are aspects that do not stand in the text, aspects that are not in gold, aspects of gold that are missing, "
    "and polarities; without gold only the first kind is known."
)
_SPOKEN = "A risk is a flag for every aspect that its scope meets, a proposal, an edit or a review for its target."

ASPECT_BLAME_METRICS = (
    Metric(
        id="step_introduction_rate",
        alias="introduction rate",
        name="errors that a step introduces",
        reads="blame",
        compute=partial(blame_rates, name="introduction"),
        direction="lower",
        range=(0, 1),
        undefined_when="the step leaves nothing that it could have got wrong",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of what a step could have got wrong, how much is wrong after it?",
        formula="units wrong after the step / units after the step, both of those that were right or absent before it",
        example="ATE states five aspects, one of which is not in the text: 1 / 5 = 0.2.",
        caution=f"{_UNITS} A step that changes nothing has a rate of 0; a step that adds little has few chances.",
        source=_OURS,
    ),
    Metric(
        id="step_detection_rate",
        alias="detection rate",
        name="errors that a speaker flags",
        reads="blame",
        compute=partial(blame_rates, name="detection"),
        direction="higher",
        range=(0, 1),
        undefined_when="nothing is wrong when the speaker speaks",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of the errors of stage 1, how many does a validator, a debater or a review point out?",
        formula="wrong units that the speaker flags / units wrong after stage 1",
        example="Of three wrong polarities EPM wants two changed: 2 / 3 = 0.667.",
        caution=f"{_SPOKEN} Who flags everything finds everything: read it beside step_false_alarm_rate.",
        source=_OURS,
    ),
    Metric(
        id="step_false_alarm_rate",
        alias="false alarm rate",
        name="right things that a speaker flags",
        reads="blame",
        compute=partial(blame_rates, name="false_alarm"),
        direction="lower",
        range=(0, 1),
        undefined_when="nothing is right when the speaker speaks",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of what stage 1 got right, how much does a validator, a debater or a review want changed?",
        formula="right units that the speaker flags / units right after stage 1",
        example="The scope of a negation meets one of four aspects whose polarities are right: 1 / 4 = 0.25.",
        caution=f"{_SPOKEN} A risk says that something may mislead, not that it did.",
        source=_OURS,
    ),
    Metric(
        id="step_repair_rate",
        alias="repair rate",
        name="errors that a step repairs",
        reads="blame",
        compute=partial(blame_rates, name="repair"),
        direction="higher",
        range=(0, 1),
        undefined_when="nothing is wrong before the step",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of the errors that a step finds, how many are gone after it?",
        formula="wrong units that the step makes right, or removes where they should not be / units wrong before it",
        example="Before the ATE review two aspects are not in the text; it drops one: 1 / 2 = 0.5.",
        caution="To drop an aspect of gold whose polarity is wrong repairs nothing: then the aspect is missing.",
        source=_OURS,
    ),
    Metric(
        id="step_regression_rate",
        alias="regression rate",
        name="right things that a step breaks",
        reads="blame",
        compute=partial(blame_rates, name="regression"),
        direction="lower",
        range=(0, 1),
        undefined_when="nothing is right before the step",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of what is right before a step, how much is wrong after it?",
        formula="units right before the step and wrong after it / units right before it",
        example="A debate override turns one of eight right polarities: 1 / 8 = 0.125.",
        caution="Many more units are right than wrong: a small rate may break more than a high repair rate repairs.",
        source=_OURS,
    ),
)
