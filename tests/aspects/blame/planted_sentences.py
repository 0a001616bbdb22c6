"""Sentences with marked aspects, and a reader that finds nothing but negations: what agents say is all that counts."""

from __future__ import annotations

import re

from hallumeter.aspects.readers.protocol import FoundCue, FoundPolarity, FoundTerm, SentenceReading
from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
from hallumeter.aspects.settings import Sentence

_MARK = re.compile(r"\[([^|\]]+)\|([+\-0])\]")
_POLARITIES = {"+": "positive", "-": "negative", "0": "neutral"}

ENGLISH = """\
The [battery|+] lasts for days, but the [screen|-] scratches far too easily.
Our [waiter|+] was charming although the [soup|-] arrived cold.
We ordered the [dumplings|0] first and loved the [noodles|+] that followed.
Great [location|+], terrible [parking|-], and the [lobby|0] was being repainted.
The [keyboard|+] feels solid while the [trackpad|-] jumps around.
I asked for the [bill|0] twice before the rude [hostess|-] noticed me.
Their [espresso|+] is superb, yet the [pastries|-] taste stale.
A cheap [charger|-] comes with an otherwise excellent [phone|+].
The [staff|+] helped us carry the [luggage|0] upstairs.
Nobody cleaned the [bathroom|-], though the [towels|+] smelled fresh.
[Delivery|-] took three weeks, but the [lamp|+] itself is gorgeous.
The [camera|+] shines in daylight; its [flash|-] ruins every portrait.
We shared a [salad|0] and an overcooked [steak|-].
Lovely [garden|+], friendly [owner|+], noisy [neighbours|-].
The [lecturer|+] explains well, but the [homework|-] never ends.
My [room|-] smelled of smoke and the [minibar|0] was empty.
The [strap|-] broke within a week; the [watch|+] still keeps perfect time.
Crisp [fries|+] and a dry [burger|-] for the usual [price|0].
The [plot|-] drags, while the [soundtrack|+] is wonderful.
[Installation|+] was painless, [support|-] was not.
Even the [menu|0] was sticky, and the [curry|-] had no taste.
The [seats|+] are wide, the [legroom|-] is a joke.
A quiet [hotel|+] with a slow [elevator|-] and a small [pool|0].
The [hinge|-] creaks, but the [display|+] is stunning.
Bright [colours|+] hide the poor [stitching|-].
The [dessert|+] made up for the dull [starter|-].
We paid by [card|0] and got a warm [goodbye|+].
The [app|-] crashes daily, whatever the [update|0] promised.
Fresh [fish|+], tired [decor|-], and a long [queue|-].
The [guide|+] knew everything, although the [bus|-] broke down."""

KOREAN = """\
[배터리|+]는 오래가지만 [화면|-]이 너무 어둡습니다.
[직원|+]분들은 친절했는데 [국물|-]이 미지근했어요.
[위치|+]는 최고인데 [주차장|-]이 좁습니다.
[커피|+]가 정말 맛있고 [케이크|-]는 퍽퍽했습니다.
[포장|+]은 꼼꼼했으나 [배송|-]이 일주일 넘게 걸렸어요.
[강의|+]는 알차지만 [과제|-]가 지나치게 많습니다.
[침대|+]는 푹신했고 [화장실|-]에서는 냄새가 났어요.
[카메라|+]는 선명한데 [스피커|-] 소리가 갈라집니다.
[메뉴판|0]을 받고 나서 [사장님|+]이 추천을 잘해 주셨어요.
[디자인|+]이 예쁘지만 [내구성|-]은 형편없습니다.
[조식|-]은 종류가 적었고 [수영장|+]은 깨끗했습니다.
[키보드|+]는 조용한데 [마우스|-]는 자꾸 끊겨요.
[가격|+]이 저렴한 대신 [마감|-]이 거칠어요.
[줄거리|-]는 지루했지만 [음악|+]은 훌륭했습니다.
[객실|+]이 넓고 [엘리베이터|-]는 느렸어요.
[김치찌개|+]는 얼큰했고 [공깃밥|-]은 딱딱했습니다.
[영수증|0]을 달라고 했더니 [점원|-]이 짜증을 냈어요.
[색감|+]은 화사한데 [바느질|-]이 엉성합니다.
[설치|+]는 쉬웠지만 [상담원|-]은 불친절했습니다.
[좌석|+]은 편했고 [안내방송|-]은 시끄러웠어요.
[튀김|+]은 바삭하고 [소스|-]는 너무 짰습니다.
[청소기|+]는 가벼운데 [충전기|-]가 금방 고장 났어요.
[정원|+]이 아름답고 [이웃|-]은 시끄럽습니다.
[앱|-]이 매일 멈추는데 [고객센터|-]는 답이 없어요.
[신발|+]은 가볍고 [끈|-]이 자꾸 풀립니다.
[냉면|+]은 시원했지만 [만두|-]는 속이 비었어요.
[안내자|+]는 재미있었고 [버스|-]는 중간에 멈췄습니다.
[향기|+]가 은은한데 [지속력|-]은 짧아요.
[번역|-]이 어색하지만 [삽화|+]는 정교합니다.
[창문|-]이 안 닫히고 [난방|+]은 따뜻했어요."""


def marked(line: str, text_id: str, language: str) -> Sentence:
    """A sentence from its marked form."""
    text, tuples = "", []
    last = 0
    for match in _MARK.finditer(line):
        text += line[last : match.start()]
        term = match.group(1)
        tuples.append(AspectTuple(term, _POLARITIES[match.group(2)], span=TextSpan(len(text), len(text) + len(term))))
        text += term
        last = match.end()
    return Sentence(text_id=text_id, text=text + line[last:], language=language, gold_tuples=tuple(tuples))


def sentences() -> list[Sentence]:
    """Thirty in English and thirty in Korean."""
    return [
        marked(line, f"{language}{number}", language)
        for language, lines in (("en", ENGLISH), ("ko", KOREAN))
        for number, line in enumerate(lines.splitlines())
    ]


class QuietReader:
    """Finds a negation everywhere, so that nobody is kept from turning a polarity, and nothing else."""

    def __init__(self, language: str) -> None:
        self._language = language

    @property
    def language(self) -> str:
        return self._language

    @property
    def version(self) -> str:
        return "quiet"

    def read(self, text: str) -> SentenceReading:
        return SentenceReading(text, cues=(FoundCue("negation", 0, 1, 0, len(text)),))

    def polarity_of(self, text: str, start: int, end: int) -> FoundPolarity:
        return FoundPolarity("neutral", 0.5)

    def sentence_polarity(self, text: str) -> FoundPolarity:
        return FoundPolarity("neutral", 0.5)

    def without_particle(self, text: str, start: int, end: int) -> int:
        return end

    def term_after(self, text: str, place: int) -> FoundTerm | None:
        return None
