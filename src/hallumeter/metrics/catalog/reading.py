"""What engines did with pages, by alignment with the ground truth."""

from hallumeter.metrics import transcripts

from .metric import Metric

_OURS = "hallumeter"
_EDIT = "Levenshtein 1966; counted as in jiwer"
_MORRIS = "Morris, Maier and Green, From WER and RIL to MER and WIL, Interspeech 2004"
_PICARONES = "Picarones"

READING_METRICS = (
    Metric(
        id="cer",
        alias="CER",
        name="character error rate",
        reads="pages",
        compute=transcripts.character_error_rate,
        direction="lower",
        range=(0, None),
        undefined_when="no page has a reference",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How many characters must be changed, added or removed to get from the response to the page?",
        formula="(substituted + deleted + inserted characters) / characters of the reference, all pages pooled",
        example='Page "roi", response "roy!": one substituted, one inserted: 2 / 3 = 0.667.',
        caution=(
            "It does not tell a misread letter from an invented sentence, and a runaway response drives "
            "it far above 1. Read it beside invented_rate and in the view without hallucinated pages. "
            "Long pages are aligned by anchors; their rate is then an upper bound, and counted as such."
        ),
        source=_EDIT,
    ),
    Metric(
        id="cer_mean",
        alias="CER mean",
        name="mean of the pages' character error rates",
        reads="pages",
        compute=transcripts.mean_character_error_rate,
        direction="lower",
        range=(0, None),
        undefined_when="no page has a reference",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="What is the character error rate of an average page?",
        formula="mean over pages of errors / characters of the reference",
        example="Pages with rates 0 and 0.5: 0.25, whatever their lengths.",
        caution=(
            "One short page with a loop can outweigh a hundred good ones; look at cer_gini and at the worst pages."
        ),
        source=_PICARONES,
    ),
    Metric(
        id="cer_gini",
        alias="CER Gini",
        name="concentration of errors on few pages",
        reads="pages",
        compute=transcripts.error_concentration,
        direction="lower",
        range=(0, 1),
        undefined_when="no page has a reference, or none an error",
        question="Are the errors spread over all pages, or do a few pages hold them all?",
        formula="2 * sum(i * x_i) / (n * sum(x)) - (n + 1) / n over the pages' rates x in ascending order",
        example="Rates 0, 0, 0, 1: 2 * 4 / (4 * 1) - 5 / 4 = 0.75.",
        caution=(
            "It says nothing about how many errors there are: an engine that is equally bad everywhere "
            "has 0. It has no interval."
        ),
        source=_PICARONES,
    ),
    Metric(
        id="wer",
        alias="WER",
        name="word error rate",
        reads="pages",
        compute=transcripts.word_error_rate,
        direction="lower",
        range=(0, None),
        undefined_when="no page has a reference with words",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How many words must be changed, added or removed to get from the response to the page?",
        formula="(substituted + deleted + inserted words) / words of the reference, all pages pooled",
        example='Page "le roi de france", response "le roy de": one substituted, one deleted: 2 / 4 = 0.5.',
        caution="One wrong letter, a comma or a hyphen makes a whole word wrong; see --normalize.",
        source=_EDIT,
    ),
    Metric(
        id="mer",
        alias="MER",
        name="match error rate",
        reads="pages",
        compute=transcripts.match_error_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="neither page nor response has words",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="What share of the word alignment is an error?",
        formula="errors / (hits + errors), words, all pages pooled",
        example=(
            'Page "d a b s", response "a b t w x y z": 2 hits, 1 substituted, 1 deleted, 4 inserted: 6 / 8 = 0.75, '
            "where WER is 6 / 4 = 1.5."
        ),
        caution="It stays below 1 however much was invented, so it hides runaway responses that WER shows.",
        source=_MORRIS,
    ),
    Metric(
        id="wil",
        alias="WIL",
        name="word information lost",
        reads="pages",
        compute=transcripts.word_information_lost,
        resample=transcripts.resampled_word_information_lost,
        direction="lower",
        range=(0, 1),
        undefined_when="neither page nor response has words",
        interval="pattern_bootstrap",
        question="How much of the words' information was lost on the way from the page to the response?",
        formula="1 - (hits / words of the reference) * (hits / words of the response), all pages pooled",
        example='Page "a b c d", response "a b c x y z": 3 hits, 1 - (3 / 4) * (3 / 6) = 0.625.',
        caution="Inventing and leaving out raise it alike; it does not tell which.",
        source=_MORRIS,
    ),
    Metric(
        id="true_insertion_rate",
        alias="true insertion",
        name="share of words with nothing on the page",
        reads="pages",
        compute=transcripts.true_insertion_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no response has a word",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of all the words that the engine wrote, how many stand for nothing on the page?",
        formula="unaligned words of the response / words of the response, all pages pooled",
        example=('Page "a b c d", response "a b c d a b c d": 4 of 8 words have no place: 0.5. Net insertion is 0.'),
        caution=(
            "A word counts as misread, not as inserted, when most of its letters are found at its place. "
            "Text that is on the page but not in the ground truth (a stamp, a letterhead) counts as "
            "inserted."
        ),
        source=_OURS,
    ),
    Metric(
        id="invented_rate",
        alias="invented",
        name="share of words in invented blocks and loops",
        reads="pages",
        compute=transcripts.invented_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no response has a word",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How much of the response is invented passages and loops, single stray words aside?",
        formula=(
            "words in unaligned stretches of at least 4 words, or in loops / words of the response, all pages pooled"
        ),
        example='Page "le roi de france", response "le roi de france et de navarre et des indes": 6 / 10 = 0.6.',
        caution=(
            "It cannot know what the ground truth leaves out: marginal notes and letterheads that an "
            "engine read rightly count as invented where the ground truth omits them."
        ),
        source=_OURS,
    ),
    Metric(
        id="loop_rate",
        alias="loops",
        name="share of words in repetition loops",
        reads="pages",
        compute=transcripts.loop_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no response has a word",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How much of the response is the same thing over and over?",
        formula=(
            "unaligned words inside a stretch that repeats at least three times / words of the response, "
            "all pages pooled"
        ),
        example='Page "le roi dit", response "le roi dit le roi dit le roi dit": 6 / 9 = 0.667.',
        caution=(
            "A repetition that the page has too is no loop. Numbers and single letters may differ from copy to copy."
        ),
        source=_OURS,
    ),
    Metric(
        id="omission_rate",
        alias="omission",
        name="share of the page that was left out",
        reads="pages",
        compute=transcripts.omission_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no reference has a word",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of all the words on the pages, how many has the response nothing for?",
        formula="unaligned words of the reference / words of the reference, all pages pooled",
        example='Page "le roi de france", response "le roi": 2 / 4 = 0.5.',
        caution=(
            "Text in another order is found again and does not count. A badly misread word counts as left"
            " out when fewer than half of its letters are found."
        ),
        source=_OURS,
    ),
    Metric(
        id="multiset_insertion_rate",
        alias="multiset insertion",
        name="share of words beyond the page's own number of them",
        reads="pages",
        compute=transcripts.multiset_insertion_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no response has a word",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="How many words does the response have more often than the page?",
        formula=("sum over words of max(0, times in the response - times in the reference) / words of the response"),
        example='Page "a b", response "a a a b x": 2 more a, 1 x: 3 / 5 = 0.6.',
        caution="Order plays no part, so shuffled text scores 0; a misread word counts fully.",
        source=_OURS,
    ),
    Metric(
        id="number_insertion_rate",
        alias="numbers invented",
        name="share of numbers that the page does not have",
        reads="pages",
        compute=transcripts.number_insertion_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no response has a number",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of the numbers in the response (dates, amounts, doses), how many are not on the page?",
        formula="numbers of the response beyond their count in the reference / numbers of the response",
        example='Page "12 May 1890", response "12 May 1980": 1 / 2 = 0.5.',
        caution="A misread digit counts like an invented date: both give a wrong number to whoever uses it.",
        source=_OURS,
    ),
    Metric(
        id="name_insertion_rate",
        alias="names invented",
        name="share of capitalised words that were invented",
        reads="pages",
        compute=transcripts.name_insertion_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no response has a capitalised word inside a sentence",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="Of the words that look like names, how many are nowhere on the page, not even misread?",
        formula=(
            "capitalised words that were not read by their letters and that the reference does not have / "
            "capitalised words of the response, first words of lines and sentences left out"
        ),
        example='Page "he met Anna", response "he met Anna and Paul": 1 / 2 = 0.5.',
        caution=(
            "A capital is a poor sign of a name: German nouns have one, Korean names have none, so it is "
            "undefined for Korean."
        ),
        source=_OURS,
    ),
    Metric(
        id="hallucinating_page_rate",
        alias="hallucinating pages",
        name="share of pages with invented text",
        reads="pages",
        compute=transcripts.hallucinating_page_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no page could be told",
        is_poolable=True,
        interval="wilson",
        question="On how many pages did the engine invent or loop?",
        formula="pages with hallumeter's badge / pages that could be badged: all but empty outputs and the undecided",
        example=(
            'Three pages "le roi de france": one read rightly, one left empty, one with "et de navarre et des indes" '
            "added: 1 / 2 = 0.5."
        ),
        caution=(
            "Empty outputs are left out and counted as empty_output_rate; the thresholds of the badge are"
            " in the policy."
        ),
        source=_OURS,
    ),
    Metric(
        id="empty_output_rate",
        alias="empty outputs",
        name="share of pages without any output",
        reads="pages",
        compute=transcripts.empty_output_rate,
        direction="lower",
        range=(0, 1),
        undefined_when="no page has text",
        is_poolable=True,
        interval="wilson",
        question="For how many pages with text did the engine write nothing?",
        formula="pages with text and without output / pages with text",
        example="Three pages with text, one of them without output: 1 / 3 = 0.333.",
        caution="An engine that refuses and says so in words is not empty; its words count as invented.",
        source=_OURS,
    ),
)
