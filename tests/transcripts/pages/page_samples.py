"""Where the sample pages lie, and what is written on them."""

from __future__ import annotations

from pathlib import Path

FILES = Path(__file__).parent / "files"
DINGLEHOPPER = FILES / "dinglehopper"
TESSERACT = FILES / "tesseract"

# Typed from the scans' own printed text, which is the usual filler.
LOREM_IPSUM = """\
Lorem ipsum dolor sit amet, consetetur sadipscing elitr, sed diam nonumy eirmod tempor invidunt
ut labore et dolore magna aliquyam erat, sed diam voluptua. At vero eos et accusam et justo duo
dolores et ea rebum. Stet clita kasd gubergren, no sea takimata sanctus est Lorem ipsum dolor sit
amet. Lorem ipsum dolor sit amet, consetetur sadipscing elitr, sed diam nonumy eirmod tempor
invidunt ut labore et dolore magna aliquyam erat, sed diam voluptua. At vero eos et accusam et
justo duo dolores et ea rebum. Stet clita kasd gubergren, no sea takimata sanctus est Lorem ipsum
dolor sit amet."""

# What Tesseract 5.3.0 read of three pages that were drawn for these tests.
ENGLISH = """\
The Harbour Gazette
On Monday the ferry left at 7.45
with 128 passengers & two dogs.
A storm delayed its return
until Wednesday evening."""
FRENCH = """\
Le marché de Noël
L'été dernier, la sœur du maire
a vendu 36 gâteaux à l’église.
Où était-il ce soir-là ?"""
# The engine writes a space between some syllables in ALTO and hOCR; the reader keeps what the file says.
KOREAN = """\
오늘 아침 부 산 에는 비가 내렸다.
기 차 는 여 덜 시 에 떠났다.
우 리 는 창 가 에 앉아
바 다 를 보았다."""
