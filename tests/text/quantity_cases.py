"""Numbers as people write them, with what they mean, worked out by hand.

The cases that are held back were written before the reader was extended and were not looked at while it was: they tell
how it does on what it was not made for. The others were used to build it.
"""

from __future__ import annotations

from typing import NamedTuple


class Found(NamedTuple):
    """A number that the reader is to find."""

    value: float
    unit: str | None = None
    high: float | None = None
    out_of: float | None = None


class Case(NamedTuple):
    """A text, its language, and all its numbers in order."""

    text: str
    language: str
    found: tuple[Found, ...]


BUILT_WITH = (
    Case("The population is 1,234,567.", "en", (Found(1_234_567),)),
    Case("It weighs 1,234.5 kg.", "en", (Found(1234.5, "kg"),)),
    Case("La ville compte 1 234 567 habitants.", "fr", (Found(1_234_567),)),
    Case("Il pèse 3,5 mg.", "fr", (Found(3.5, "mg"),)),
    Case("Take 3,5 mg a day.", "en", (Found(3.5, "mg"),)),
    Case("Growth was 12 % last year.", "en", (Found(12, "%"),)),
    Case("La hausse est de 12 %.", "fr", (Found(12, "%"),)),
    Case("성장률은 12%이다.", "ko", (Found(12, "%"),)),
    Case("It sold 1.2 billion units.", "en", (Found(1.2e9),)),
    Case("인구는 1억 2천만 명이다.", "ko", (Found(120_000_000),)),
    Case("Keep it between 5.0-7.5 mmol/L.", "en", (Found(5.0, "mmol/L", high=7.5),)),
    Case("Glucose was 126 mg/dL.", "en", (Found(126, "mg/dL"),)),
    Case("La glycémie est de 7,2 mmol/L.", "fr", (Found(7.2, "mmol/L"),)),
    Case("혈당은 126mg/dL이다.", "ko", (Found(126, "mg/dL"),)),
    Case("Blood pressure is 140 mmHg.", "en", (Found(140, "mmHg"),)),
    Case("Take ½ tablet.", "en", (Found(0.5),)),
    Case("Add 1½ cups of flour.", "en", (Found(1.5, "cup"),)),
    Case("Add 1 1/2 cups of flour.", "en", (Found(1.5, "cup"),)),
    Case("Add 1/2 cup of sugar.", "en", (Found(0.5, "cup"),)),
    Case("Prenez ½ comprimé.", "fr", (Found(0.5),)),
    Case("¾ of the members agreed.", "en", (Found(0.75),)),
    Case("We are open 24/7.", "en", ()),
    Case("He is 5 ft 3 in tall.", "en", (Found(63, "in"),)),
    Case("She is 5 feet 10 inches tall.", "en", (Found(70, "in"),)),
    Case("The baby weighed 7 lb 8 oz.", "en", (Found(120, "oz"),)),
    Case("It has 4 out of 5 stars.", "en", (Found(4, out_of=5), Found(5))),
    Case("3 sur 10 ont répondu.", "fr", (Found(3, out_of=10), Found(10))),
    Case("twenty-five men", "en", (Found(25),)),
    Case("two hundred and five men", "en", (Found(205),)),
    Case("quatre-vingt-dix-neuf voix", "fr", (Found(99),)),
    Case("스물다섯 명이 왔다.", "ko", (Found(25),)),
    Case("Prices rose by $3.5M.", "en", (Found(3.5e6, "USD"),)),
    Case("between 10 and 20 km", "en", (Found(10, "km", high=20),)),
    Case("10 à 20 km", "fr", (Found(10, "km", high=20),)),
    Case("COVID-19 and B12", "en", ()),
    Case("It was -5 °C.", "en", (Found(-5, "°C"),)),
)

HELD_BACK = (
    Case("The debt reached 12,500 euros.", "en", (Found(12_500, "EUR"),)),
    Case("The river is 6,650 km long.", "en", (Found(6650, "km"),)),
    Case("Le budget est de 2,5 milliards d'euros.", "fr", (Found(2.5e9, "EUR"),)),
    Case("Il y a 12 345 élèves.", "fr", (Found(12_345),)),
    Case("La dose est de 0,25 mg.", "fr", (Found(0.25, "mg"),)),
    Case("매출은 3조 5천억 원이다.", "ko", (Found(3.5e12, "KRW"),)),
    Case("관객이 2만 3천 명 왔다.", "ko", (Found(23_000),)),
    Case("거리는 3.5km이다.", "ko", (Found(3.5, "km"),)),
    Case("LDL fell to 3.4 mmol/L.", "en", (Found(3.4, "mmol/L"),)),
    Case("The target is 70–130 mg/dL.", "en", (Found(70, "mg/dL", high=130),)),
    Case("Creatinine of 88 µmol/L is normal.", "en", (Found(88, "µmol/L"),)),
    Case("Hemoglobin is 13.5 g/dL.", "en", (Found(13.5, "g/dL"),)),
    Case("La tension est de 120 mmHg.", "fr", (Found(120, "mmHg"),)),
    Case("Use ¼ teaspoon of salt.", "en", (Found(0.25, "tsp"),)),
    Case("It takes 2½ hours.", "en", (Found(2.5, "h"),)),
    Case("It takes 2 1/2 hours.", "en", (Found(2.5, "h"),)),
    Case("Add 3/4 cup of milk.", "en", (Found(0.75, "cup"),)),
    Case("Ajoutez 1½ litre de lait.", "fr", (Found(1.5, "L"),)),
    Case("¼ des élèves étaient absents.", "fr", (Found(0.25),)),
    Case("Versions 9/11 and 24/7 are names.", "en", ()),
    Case("He stands 6 ft 2 in.", "en", (Found(74, "in"),)),
    Case("She is 5 foot 4 inches.", "en", (Found(64, "in"),)),
    Case("9 out of 10 dentists agree.", "en", (Found(9, out_of=10), Found(10))),
    Case("7 élèves sur 10 ont réussi.", "fr", (Found(7), Found(10))),
    Case("three million five hundred thousand people", "en", (Found(3_500_000),)),
    Case("soixante-douze voix", "fr", (Found(72),)),
    Case("열두 마리가 있다.", "ko", (Found(12),)),
    Case("오십만 명이 모였다.", "ko", (Found(500_000),)),
    Case("It costs £4.99.", "en", (Found(4.99, "GBP"),)),
    Case("from 1.5 to 2 million people", "en", (Found(1.5e6, high=2e6),)),
    Case("5~7일 걸린다.", "ko", (Found(5, "d", high=7),)),
    Case("Il fait entre 10 et 15 degrés.", "fr", (Found(10, "°", high=15),)),
    Case("Room #12 and GPT-4", "en", ()),
    Case("The film lasts 142 min.", "en", (Found(142, "min"),)),
    Case("About 98.6 °F is normal.", "en", (Found(98.6, "°F"),)),
    Case("Take two tablets.", "en", (Found(2),)),
)
