"""Metrics over the tuples of aspect agents beside gold, over repeated runs, and over what they take."""

from functools import partial

from hallumeter.metrics.aspects.rates import case_difference, case_rate

from .aspect_row import AGENTS, OURS, aspect_rate
from .metric import Metric

_NO_GOLD = "no sentence has gold and tuples"
_PAIRS = "pairs of term and polarity"
_F1 = "mean over sentences with gold of 2 * matched / (predicted + gold), 1 where both are empty; {which}"
_MEAN = "Two sentences, 1 of 1 pair matched and 0 of 1: (1 + 0) / 2 = 0.5."
_POOL = "Two sentences, 2 * 1 of 2 pairs and 2 * 1 of 6: 4 / 8 = 0.5, where the mean of both is 0.667."
_MACRO = "Every sentence counts once, however many aspects it has; tuple_f1_micro_{stage} pools the pairs."
_UNDEFINED = {
    "": _NO_GOLD,
    "explicit": "no sentence has gold with a named aspect, and tuples",
    "implicit": "no sentence has gold with an aspect without a name, and tuples",
}
_ONE_RUN = "no sentence was run more than once"


def _f1(stage: str, words: str, part: str = "") -> Metric:
    """Mean F1 of a stage: of all pairs, or of some of them."""
    which = {"": _PAIRS, "explicit": f"{_PAIRS} of named aspects", "implicit": "polarities of aspects without a name"}
    texts = {"": "", "explicit": ", named aspects only", "implicit": ", aspects without a name only"}
    cautions = {
        "": _MACRO.format(stage=stage),
        "explicit": "The task proper: aspects without a name are left out on both sides.",
        "implicit": "Another task: polarities alone, compared with those of predictions that match nothing named.",
    }
    prefix = f"{part}_" if part else ""
    return aspect_rate(
        f"tuple_f1_{stage}{f'_{part}_only' if part else ''}",
        f"{prefix}f1_{stage}",
        f"{prefix}gold_{stage}",
        name=f"mean tuple F1 of {words}{texts[part]}",
        direction="higher",
        undefined_when=_UNDEFINED[part],
        question=f"How well do the aspects and polarities of {words} fit gold{texts[part]}?",
        formula=_F1.format(which=f"{which[part]} of {words}"),
        example=_MEAN,
        caution=cautions[part],
    )


def _micro(stage: str, words: str) -> Metric:
    return aspect_rate(
        f"tuple_f1_micro_{stage}",
        f"matched_{stage}",
        f"pairs_{stage}",
        name=f"pooled tuple F1 of {words}",
        direction="higher",
        undefined_when=_NO_GOLD,
        question=f"How well do the aspects and polarities of {words} fit gold, all pairs pooled?",
        formula=f"2 * matched / (predicted + gold), {_PAIRS} of {words}, added up over sentences",
        example=_POOL,
        caution="Sentences with many aspects weigh more.",
        source=OURS,
    )


TUPLE_METRICS = (
    _f1("s1", "stage 1"),
    _f1("s2", "stage 2"),
    _f1("final", "the result"),
    aspect_rate(
        "delta_f1",
        "delta_f1",
        "gold_both",
        name="gain of tuple F1 from stage 1 to stage 2",
        direction="higher",
        range=(-1, 1),
        undefined_when="no sentence has gold and both stages",
        question="Does stage 2 bring the aspects and polarities closer to gold?",
        formula="mean over sentences with gold of F1 of stage 2 - F1 of stage 1",
        example="Three sentences, 0.5 to 1, 1 to 1 and 1 to 0.8: (0.5 + 0 - 0.2) / 3 = 0.1.",
        caution="This, fix_rate, break_rate and net_gain tell whether stage 2 helps; the others are diagnostics.",
    ),
    _f1("s1", "stage 1", "explicit"),
    _f1("s2", "stage 2", "explicit"),
    _f1("final", "the result", "explicit"),
    aspect_rate(
        "delta_f1_explicit_only",
        "explicit_delta_f1",
        "explicit_gold_both",
        name="gain of tuple F1 from stage 1 to stage 2, named aspects only",
        direction="higher",
        range=(-1, 1),
        undefined_when="no sentence has gold with a named aspect and both stages",
        question="Does stage 2 bring named aspects and their polarities closer to gold?",
        formula="mean over sentences with a named aspect in gold of F1 of stage 2 - F1 of stage 1, named aspects only",
        example="Two sentences, 0.5 to 1 and 1 to 0.8: (0.5 - 0.2) / 2 = 0.15.",
        caution="Aspects without a name are left out on both sides.",
    ),
    _f1("s1", "stage 1", "implicit"),
    _f1("s2", "stage 2", "implicit"),
    _f1("final", "the result", "implicit"),
    aspect_rate(
        "delta_f1_implicit_only",
        "implicit_delta_f1",
        "implicit_gold_both",
        name="gain of tuple F1 from stage 1 to stage 2, aspects without a name only",
        direction="higher",
        range=(-1, 1),
        undefined_when="no sentence has gold with an aspect without a name and both stages",
        question="Does stage 2 bring the polarities of aspects without a name closer to gold?",
        formula="mean over sentences with an unnamed aspect in gold of F1 of stage 2 - F1 of stage 1, their polarities "
        "only",
        example="Two sentences, 0 to 1 and 1 to 0.667: (1 - 0.333) / 2 = 0.333.",
        caution="Polarities alone are compared, with those of predictions that match nothing named: another task.",
    ),
    _micro("s1", "stage 1"),
    _micro("s2", "stage 2"),
    _micro("final", "the result"),
    aspect_rate(
        "fix_rate",
        "fixed",
        "wrong_before",
        name="wrong sentences that stage 2 puts right",
        direction="higher",
        undefined_when="no sentence with gold is wrong in stage 1",
        question="Of the sentences that stage 1 has wrong, how many has stage 2 wholly right?",
        formula="sentences wrong in stage 1 and perfect in stage 2 / sentences wrong in stage 1",
        example="Twenty sentences wrong, three of them perfect afterwards: 3 / 20 = 0.15.",
        caution="Perfect means every pair of gold and no other; a partial repair does not count.",
    ),
    aspect_rate(
        "break_rate",
        "broken",
        "right_before",
        name="right sentences that stage 2 puts wrong",
        undefined_when="no sentence with gold is right in stage 1",
        question="Of the sentences that stage 1 has wholly right, how many does stage 2 spoil?",
        formula="sentences perfect in stage 1 and not in stage 2 / sentences perfect in stage 1",
        example="Thirty sentences perfect, one of them not afterwards: 1 / 30 = 0.033.",
        caution="Its denominator is another than that of fix_rate: compare net_gain.",
    ),
    aspect_rate(
        "net_gain",
        "net_gain",
        "gold_both",
        name="sentences put right less sentences put wrong",
        direction="higher",
        range=(-1, 1),
        undefined_when="no sentence has gold and both stages",
        question="Does stage 2 repair more sentences than it breaks?",
        formula="(sentences put right - sentences put wrong) / sentences with gold",
        example="Fifty sentences, three put right and one put wrong: (3 - 1) / 50 = 0.04.",
        caution="Only whole sentences count; delta_f1 sees partial repairs, too.",
    ),
    aspect_rate(
        "override_delta_f1",
        "delta_f1_override",
        "gold_override",
        name="gain of tuple F1 where the debate overrode",
        direction="higher",
        range=(-1, 1),
        undefined_when="no sentence with gold has an applied override",
        question="Do overrides of the debate bring a sentence closer to gold?",
        formula="mean over sentences with gold and an applied override of F1 of stage 2 - F1 of stage 1",
        example="Two such sentences, 0 to 1 and 1 to 0.5: (1 - 0.5) / 2 = 0.25.",
        caution="Reviews of stage 2 changed the same sentences; it is no effect of the override alone.",
        source=OURS,
    ),
    aspect_rate(
        "severe_polarity_error_rate",
        "severe",
        "gold_final",
        alias="L3",
        name="sentences with a wrong polarity of a right aspect",
        undefined_when=_NO_GOLD,
        question="How many sentences give an aspect of gold a polarity that gold does not?",
        formula="sentences with a final tuple whose term is in gold with other polarities only / sentences with gold",
        example="Fifty sentences, two with such a tuple: 2 / 50 = 0.04.",
        caution="Aspects that were not found cannot have a wrong polarity.",
    ),
    aspect_rate(
        "implicit_invalid_pred_rate",
        "implicit_invalid",
        "implicit_gold",
        name="sentences with unnamed gold and no valid polarity",
        undefined_when="no gold has an aspect without a name",
        question="Where gold names no aspect, how often is there no valid polarity?",
        formula="sentences with unnamed aspects in gold that failed, lack a polarity or have no valid one / sentences "
        "with unnamed aspects in gold",
        example="Eight such sentences, one without a polarity: 1 / 8 = 0.125.",
        caution="Sentences that failed count here.",
    ),
    aspect_rate(
        "polarity_conflict_rate",
        "conflict_final",
        "tuples_final",
        name="sentences whose result contradicts itself",
        undefined_when="no final tuples are known",
        question="How many sentences give one aspect two polarities at the end?",
        formula="sentences with a named aspect of two polarities in the result / sentences with final tuples",
        example="Fifty sentences, one of them with such an aspect: 1 / 50 = 0.02.",
        caution="The same word may be named twice and rightly be judged twice.",
    ),
    aspect_rate(
        "polarity_conflict_rate_s1",
        "conflict_s1",
        "tuples_s1",
        name="sentences whose stage 1 contradicts itself",
        undefined_when="no tuples of stage 1 are known",
        question="How many sentences give one aspect two polarities in stage 1?",
        formula="sentences with a named aspect of two polarities in stage 1 / sentences with tuples of stage 1",
        example="Fifty sentences, four of them with such an aspect: 4 / 50 = 0.08.",
        caution="Compare polarity_conflict_rate, which is of the result.",
        source=OURS,
    ),
    aspect_rate(
        "hf_polarity_disagreement_rate",
        "signal_disagrees",
        "signal_compared",
        name="sentences on which the auxiliary classifier disagrees",
        direction="none",
        undefined_when="no sentence has a signal of an auxiliary classifier",
        question="How often does the auxiliary classifier say otherwise than the pipeline?",
        formula="sentences whose last label differs from the classifier's / sentences with both",
        example="Fifty sentences, nine with another label: 9 / 50 = 0.18.",
        caution="To agree with a classifier is not to be right.",
    ),
    aspect_rate(
        "hf_disagreement_coverage_of_structural_risks",
        "signal_risk_disagrees",
        "signal_risk",
        name="sentences with a risk on which the auxiliary classifier disagrees",
        direction="none",
        undefined_when="no sentence with a risk has a signal of an auxiliary classifier",
        question="Where a validator sees a risk, how often does the auxiliary classifier disagree?",
        formula="sentences with a risk in either stage and another label / sentences with a risk in either stage and a "
        "signal",
        example="Seven sentences with a risk, three with another label: 3 / 7 = 0.429.",
        caution="Compare hf_polarity_disagreement_rate: a difference hints that risks mark hard sentences.",
    ),
    aspect_rate(
        "parse_generate_failure_rate",
        "failed",
        "attempted",
        name="sentences that failed",
        undefined_when="there is no sentence",
        question="How many sentences did the pipeline not come to the end with?",
        formula="sentences whose replies did not come or could not be understood / all sentences",
        example="Fifty sentences, two of which failed: 2 / 50 = 0.04.",
        caution="They are left out of the other rates and widen their bounds; what they took is counted.",
    ),
    aspect_rate(
        "polarity_repaired_rate",
        "polarity_repaired",
        "polarities_known",
        name="sentences with a misspelt polarity",
        undefined_when="no scorecard tells of repairs",
        question="In how many sentences was a misspelt polarity repaired?",
        formula="sentences with a polarity at distance 1 or 2 from exactly one known word / sentences",
        example="Fifty sentences, one with 'positve': 1 / 50 = 0.02.",
        caution="What could be two words is not repaired: see polarity_invalid_rate.",
    ),
    aspect_rate(
        "polarity_invalid_rate",
        "polarity_invalid",
        "polarities_known",
        name="sentences with a polarity that is none",
        undefined_when="no scorecard tells of polarities that could not be understood",
        question="In how many sentences could a polarity not be understood?",
        formula="sentences with a polarity that is no known word and like none / sentences",
        example="Fifty sentences, two with 'meh': 2 / 50 = 0.04.",
        caution="Such a polarity is missing; it is not neutral.",
    ),
    aspect_rate(
        "latency_warn_rate",
        "latency_warned",
        "gated",
        name="sentences that take too long",
        undefined_when="no time is known",
        question="How many sentences take longer than their profile allows?",
        formula="sentences beyond 60 s (smoke), 30 s (regression) or 15 s (paper_main) / sentences with a known time",
        example="Fifty sentences, three of them too slow: 3 / 50 = 0.06.",
        caution="Times of calls that were answered from a cache or replayed are those of the replay.",
    ),
    aspect_rate(
        "mean_latency_ms",
        "latency_ms",
        "latency_known",
        name="mean time of a sentence",
        range=(0, None),
        undefined_when="the time of no sentence is known",
        question="How many milliseconds does a sentence take?",
        formula="sum of times / sentences with a known time, failed ones included",
        example="1,200 ms and 1,800 ms: 3,000 / 2 = 1,500.",
        caution="A mean hides the slow ones: see latency_warn_rate.",
    ),
    aspect_rate(
        "mean_tokens",
        "tokens",
        "tokens_known",
        name="mean tokens of a sentence",
        range=(0, None),
        undefined_when="the tokens of no sentence are known",
        question="How many tokens does a sentence take, read and written?",
        formula="sum of tokens in and out / sentences with known tokens, failed ones included",
        example="900 and 1,100 tokens: 2,000 / 2 = 1,000.",
        caution="Agents that are code take none, and are left out.",
    ),
    aspect_rate(
        "mean_cost_usd",
        "cost_usd",
        "cost_known",
        name="mean cost of a sentence",
        range=(0, None),
        undefined_when="the cost of no sentence is known",
        question="What does a sentence cost, in US dollars?",
        formula="sum of costs / sentences with a known cost, failed ones included",
        example="0.002 and 0.004 dollars: 0.006 / 2 = 0.003.",
        caution="Unknown costs are left out; they are not 0.",
    ),
)


def _case(metric_id: str, compared: str, *, name: str, question: str) -> Metric:
    is_flip = metric_id == "flip_flop_rate"
    compute = case_difference if is_flip else case_rate
    return Metric(
        id=metric_id,
        alias=metric_id,
        name=name,
        reads="aspect_cases",
        compute=partial(compute, same=f"same_{compared}", total=compared),
        direction="lower" if is_flip else "higher",
        range=(0, 1),
        undefined_when=_ONE_RUN,
        is_poolable=True,
        interval="cluster_bootstrap",
        question=question,
        formula=f"{name} / sentences in two or more runs",
        example="Thirty sentences in five runs, 24 of them always the same: 24 / 30 = 0.8, of which 0.2 is the rest.",
        caution="Runs that repeat an error are consistent. With one run there is nothing to compare, and no value.",
        source=AGENTS,
    )


CASE_METRICS = (
    _case(
        "self_consistency_exact",
        "labels",
        name="sentences with the same label in all runs",
        question="Does a sentence get the same label in every run?",
    ),
    _case(
        "flip_flop_rate",
        "labels",
        name="sentences with different labels",
        question="How many sentences change their label from run to run?",
    ),
    _case(
        "risk_set_consistency",
        "risks",
        name="sentences with the same risks in all runs",
        question="Does a sentence get the same risks in every run?",
    ),
    _case(
        "tuple_agreement_rate",
        "tuples",
        name="sentences with the same tuples in all runs",
        question="Does a sentence get the same aspects and polarities in every run?",
    ),
)
