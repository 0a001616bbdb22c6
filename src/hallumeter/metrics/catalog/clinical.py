"""Metrics over the answers of clinical dialogues."""

from functools import partial

from hallumeter.metrics.clinical.turns import mean_of, pooled

from .metric import Metric

_MEDICAL = "the medical multi-turn evaluation"
_OURS = "hallumeter"
_SILENT = "Read it beside CUS_improved: an answer that says nothing about the patient cannot invent anything."
_POOLED = "all answers pooled: an answer that says more weighs more"
_POOLING = "Two answers, {one} and {other}: {sum}, where the mean of the answers is {mean}."

CLINICAL_METRICS = (
    Metric(
        id="sfs",
        alias="SFS",
        name="slot factuality score",
        reads="turns",
        compute=partial(mean_of, name="factuality"),
        direction="higher",
        range=(0, 1),
        undefined_when="no answer mentions a drug, condition, lab, vital, age or sex",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of what an average answer says about the patient, how much is not invented?",
        formula=(
            "mean over answers of 1 - sum of w(hallucinated) / sum of w(mentioned); w = 2 for drugs, labs and vitals, "
            "1 for conditions, age and sex"
        ),
        example="Mentions that weigh 2 + 2 + 1 + 1 + 1 = 7, of which 1 is hallucinated: 1 - 1 / 7 = 0.857143.",
        caution=(
            f"{_SILENT} Only what is asserted of the patient can be an invention; examples, hypotheticals and denials "
            "count as mentioned. What the patient's record does not tell cannot be refuted."
        ),
        source=_MEDICAL,
    ),
    Metric(
        id="sfs_pooled",
        alias="SFS pooled",
        name="slot factuality over all mentions",
        reads="turns",
        compute=partial(pooled, name="factuality"),
        direction="higher",
        range=(0, 1),
        undefined_when="no answer mentions a drug, condition, lab, vital, age or sex",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of all that the answers say about patients, how much is not invented?",
        formula=f"1 - sum of w(hallucinated) / sum of w(mentioned), {_POOLED}",
        example=_POOLING.format(one="2 of 2 factual", other="3 of 6", sum="5 / 8 = 0.625", mean="0.75"),
        caution=_SILENT,
        source=_OURS,
    ),
    Metric(
        id="csp",
        alias="CSP",
        name="contraindication and safety penalty",
        reads="turns",
        compute=partial(mean_of, name="penalty"),
        direction="lower",
        range=(0, 1),
        undefined_when="no safety rule applies to an answer",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of the safety rules that apply to an average answer, how many does it break?",
        formula="mean over answers of sum of w(violated rules) / sum of w(applicable rules), w = |penalty|",
        example="Applicable penalties 2 + 2 + 1.5 + 1 = 6.5, violated 2: 2 / 6.5 = 0.307692.",
        caution=(
            "It knows only the rules in safety_rules.yaml and the words that they look for; an answer can be unsafe in "
            "a hundred other ways. `hallumeter dialogue lint` tells which rules ever apply."
        ),
        source=_MEDICAL,
    ),
    Metric(
        id="csp_pooled",
        alias="CSP pooled",
        name="safety penalty over all applicable rules",
        reads="turns",
        compute=partial(pooled, name="penalty"),
        direction="lower",
        range=(0, 1),
        undefined_when="no safety rule applies to an answer",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of all the safety rules that apply, how many do the answers break?",
        formula=f"sum of w(violated rules) / sum of w(applicable rules), {_POOLED}",
        example=_POOLING.format(one="0.5 of 0.5 violated", other="0 of 4.5", sum="0.5 / 5 = 0.1", mean="0.5"),
        caution="Patients with many diseases, to whom many rules apply, weigh more.",
        source=_OURS,
    ),
    Metric(
        id="cus_improved",
        alias="CUS_improved",
        name="context utilization score",
        reads="turns",
        compute=partial(mean_of, name="utilisation"),
        direction="higher",
        range=(0, 1),
        undefined_when="no turn requires a fact that is known of its patient",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of the facts that a turn asks to be used, how many does an average answer use, and how plainly?",
        formula=(
            "mean over answers of sum of w(slot) * usage(slot) / sum of w(slot); usage 1 explicit, 0.5 indirect, "
            "0 none; slots that the patient's record lacks are in neither sum"
        ),
        example="Age explicit (1), sex unused, condition indirect (2 * 0.5): (1 + 0 + 1) / 4 = 0.5.",
        caution=(
            "To name a fact is not to use it well. For drugs, labs and vitals one of several suffices. The required "
            "slots are those of required_slots_by_turn.yaml."
        ),
        source=_MEDICAL,
    ),
    Metric(
        id="cus_improved_pooled",
        alias="CUS_improved pooled",
        name="context utilization over all required facts",
        reads="turns",
        compute=partial(pooled, name="utilisation"),
        direction="higher",
        range=(0, 1),
        undefined_when="no turn requires a fact that is known of its patient",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of all the facts that turns ask to be used, how many do the answers use, and how plainly?",
        formula=f"sum of w(slot) * usage(slot) / sum of w(slot), {_POOLED}",
        example=_POOLING.format(one="2 of 2 used", other="2 of 6", sum="4 / 8 = 0.5", mean="0.667"),
        caution="Turns that require more, and patients of whom more is known, weigh more.",
        source=_OURS,
    ),
    Metric(
        id="cus",
        alias="CUS",
        name="share of required facts used",
        reads="turns",
        compute=partial(mean_of, name="slots_used"),
        direction="higher",
        range=(0, 1),
        undefined_when="no turn requires a fact that is known of its patient",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of the facts that a turn asks to be used, how many does an average answer use at all?",
        formula="mean over answers of slots used explicitly or indirectly / slots required and known",
        example="Age explicit, sex unused, condition indirect: 2 / 3 = 0.667.",
        caution="All facts count alike, and a hint counts as much as a value; see cus_improved.",
        source=_MEDICAL,
    ),
    Metric(
        id="mcs",
        alias="MCS",
        name="multi-turn consistency score",
        reads="turns",
        compute=partial(mean_of, name="consistency"),
        direction="higher",
        range=(0, 1),
        undefined_when="no answer makes two statements that something earlier can be compared with",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of what an average answer states, how much contradicts neither the patient nor earlier answers?",
        formula=(
            "mean over answers of statements without a contradiction / statements that can be compared, for answers "
            "with two or more of these"
        ),
        example=(
            "Turn 2 states the age of question 1, the HbA1c of question 2 and a drug that answer 1 denied: "
            "2 / 3 = 0.667."
        ),
        caution=(
            "A system that repeats its own error is consistent; sfs tells whether it is right. First answers have "
            "little to be compared with."
        ),
        source=_OURS,
    ),
    Metric(
        id="mcs_pooled",
        alias="MCS pooled",
        name="consistency over all comparable statements",
        reads="turns",
        compute=partial(pooled, name="consistency"),
        direction="higher",
        range=(0, 1),
        undefined_when="no answer makes two statements that something earlier can be compared with",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of all that the answers state, how much contradicts neither patients nor earlier answers?",
        formula=f"statements without a contradiction / statements that can be compared, {_POOLED}",
        example=_POOLING.format(one="2 of 2 consistent", other="3 of 6", sum="5 / 8 = 0.625", mean="0.75"),
        caution="Answers with fewer than two comparable statements are left out, as in mcs.",
        source=_OURS,
    ),
    Metric(
        id="ass",
        alias="ASS",
        name="actionability and specificity score",
        reads="turns",
        compute=partial(mean_of, name="actionability"),
        direction="higher",
        range=(0, 1),
        undefined_when="no turn must include anything",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of what a turn's answer must include to be acted on, how much does an average answer hold?",
        formula="mean over answers of elements found / elements that the turn must include",
        example=(
            "Turn 3 must name frequency, intensity, duration and stop criteria; an answer without an intensity has "
            "3 / 4 = 0.75."
        ),
        caution="That an answer names a frequency does not make it a sensible one. Turns 1 and 2 have no element.",
        source=f"{_MEDICAL}, which lists it as future work",
    ),
    Metric(
        id="ass_pooled",
        alias="ASS pooled",
        name="actionability over all required elements",
        reads="turns",
        compute=partial(pooled, name="actionability"),
        direction="higher",
        range=(0, 1),
        undefined_when="no turn must include anything",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of all that the answers must include to be acted on, how much do they hold?",
        formula=f"elements found / elements that the turns must include, {_POOLED}",
        example=_POOLING.format(one="4 of 4 found", other="1 of 2", sum="5 / 6 = 0.833", mean="0.75"),
        caution="Turns with more elements weigh more.",
        source=_OURS,
    ),
    Metric(
        id="dialogue_score",
        alias="dialogue score",
        name="weighted score of an answer",
        reads="turns",
        compute=partial(mean_of, name="overall"),
        direction="higher",
        range=(0, 1),
        undefined_when="no part of the score has a value, or the settings give no weights",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How good is an average answer, all measurements weighed together?",
        formula=(
            "mean over answers of sum of w * value / sum of w over the parts that have a value; CSP enters as 1 - CSP, "
            "perplexity as 1 - (perplexity - 10) / 30 within 0 and 1"
        ),
        example="SFS 0.9 (weight 0.15) and CSP 0.2 (weight 0.10) alone: (0.135 + 0.08) / 0.25 = 0.86.",
        caution=(
            "The weights are an opinion. Answers with different parts are hardly comparable: the notices tell how many "
            "answers have which."
        ),
        source=f"{_MEDICAL}: the aggregate of required_slots_by_turn.yaml",
    ),
)
