"""The Korean words that show a feeling."""

from hallumeter.aspects.readers.korean.vocabulary import Grammar, Vocabulary, lexicon_hash, vocabulary
from hallumeter.aspects.sentiment_words import sentiment_words

WORDS = sentiment_words("ko")


def test_weights_lean_to_one_side_and_are_bounded() -> None:
    for word, weight in {**WORDS.words, **WORDS.phrases}.items():
        assert 0 < abs(weight) <= 1, word
    assert len(WORDS.words) > 700
    assert {"최고", "만족", "가성비", "좋다"} <= {word for word, weight in WORDS.words.items() if weight > 0}
    assert {"최악", "불만", "별로", "나쁘다"} <= {word for word, weight in WORDS.words.items() if weight < 0}


def test_phrases_have_several_words_and_degrees_are_factors() -> None:
    assert all(len(phrase.split()) > 1 for phrase in WORDS.phrases)
    assert all(1 <= factor <= 1.5 for factor in WORDS.intensifiers.values())
    assert all(0 < factor < 1 for factor in WORDS.diminishers.values())


def test_no_list_names_a_word_twice() -> None:
    lists = {**WORDS.extra, "stop_terms": WORDS.stop_terms, "negations": WORDS.negations, "contrasts": WORDS.contrasts}
    for name, entries in lists.items():
        assert len(entries) == len(set(entries)), name


def test_every_list_is_used() -> None:
    assert set(WORDS.extra) <= {*Grammar._fields, *Vocabulary._fields}


def test_a_root_stands_for_its_predicate_when_it_is_a_word() -> None:
    words = vocabulary()
    assert words.noun_weight("친절") == words.weight("친절하다") > 0
    assert words.noun_weight("편") == words.noun_weight("책상") == words.weight("책상") == 0


def test_the_hash_is_short_and_stable() -> None:
    assert len(lexicon_hash()) == 8
    assert lexicon_hash() == lexicon_hash()
