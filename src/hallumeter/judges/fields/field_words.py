"""How texts word the fields of records about places: "take-out", "to go" for RestaurantsTakeOut."""

from __future__ import annotations

import re
from functools import lru_cache

_GENERIC = frozenset({"restaurants", "business", "accepts", "has", "is", "offers", "by", "appointment"})
_GROUPS = {
    "parking": "parking",
    "music": "music",
    "ambience": "ambience",
    "ambiance": "ambience",
    "atmosphere": "ambience",
}
"""Objects whose keys are answers to one question, by the last word of their name."""

_WORDED = {
    "wifi": r"wi-?\s?fi\b|wireless internet|internet access",
    "takeout": (
        r"take-?\s?(?:outs?|away)\b|carry-?\s?outs?\b"
        r"|(?<!want )(?<!have )(?<!ready )(?<!place )(?<!need )(?<!plans )"
        r"to[- ]go\b(?! (?:to|back|for|in|with|out|there)\b)"
    ),
    "outdoorseating": (
        r"outdoor (?:seating|dining|tables?|seats?|patio|area)"
        r"|(?:seat(?:s|ing|ed)?|sit|tables?|din(?:e|ing)|eat(?:ing)?)"
        r" (?:available )?(?:outside|outdoors)|patio seating|al fresco"
    ),
    "reservations": r"reservations?\b|reserve (?:a |their |your )?(?:tables?|seats?)|book (?:a |their |your )?tables?",
    "goodforgroups": (
        r"(?:for|accommodat(?:es?|ing)|welcom(?:es?|ing)|suits?) (?:both )?(?:larger? |big |bigger )?(?:groups"
        r"|parties)\b"
        r"|groups (?:of any size )?(?:are|can be) (?:\w+ ){0,2}(?:welcome|accommodated)"
        r"|group[- ]friendly|for group (?:dining|outings)"
    ),
    "goodforkids": r"(?:kid|family|child)[- ]friendly|(?:good|suitable|great) for (?:kids|children|families)",
    "delivery": r"(?<!room )delivery\b|delivers\b",
    "happyhour": r"happy hours?\b",
    "wheelchairaccessible": r"wheelchair",
    "dogsallowed": r"(?:dog|pet)[- ]friendly|(?:dogs|pets) (?:are )?(?:allowed|welcome)",
    "tv": r"tvs?\b|televisions?\b",
    "creditcards": r"credit cards?",
    "bikeparking": r"bike (?:parking|racks?)|bicycle parking",
    "caters": r"catering\b|caters\b",
    "drivethru": r"drive-?\s?(?:thru|through)",
    "tableservice": r"table service",
    "parking": r"parking\b(?! (?:ticket|fee|spot))",
    "parking.street": (
        r"street parking|parking (?:\w+ ){0,5}?(?:on )?the street|park on the street|on-street|parking: street"
        r"|(?:in|lot|garage|valet)(?: parking)?,? (?:and|or) (?:on )?the street"
    ),
    "parking.garage": r"garage\b",
    "parking.lot": (
        r"(?:parking|private|own|nearby|dedicated|on-site|in (?:a|the|its)) lot\b"
        r"|(?:street and )?lot parking|\blot (?:for|with) (?:\w+ )?parking|parking: lot"
    ),
    "parking.valet": r"valet\b",
    "parking.validated": r"validat(?:ed|ion|es)\b",
    "music": r"live music\b|background music\b",
    "music.live": r"live (?:\w+ )?(?:music|bands?|performances?|jazz|entertainment|acts?|musicians)\b",
    "music.dj": r"djs?\b",
    "music.karaoke": r"karaoke\b",
    "music.jukebox": r"jukebox\b",
    "music.background": r"background music\b",
    "ambience.divey": r"divey\b|dive[- ]bar\b",
    **{
        f"ambience.{word}": rf"{word}\b"
        for word in ("romantic", "intimate", "touristy", "hipster", "classy", "trendy", "upscale", "casual")
    },
}
MEMBERS = {
    group: tuple(name for name in _WORDED if name.startswith(f"{group}.")) for group in ("parking", "music", "ambience")
}
_PATTERNS = {name: re.compile(rf"\b(?:{pattern})", re.IGNORECASE) for name, pattern in _WORDED.items()}
HINT = re.compile("|".join(f"(?:{pattern})" for pattern in _WORDED.values()), re.IGNORECASE)
"""Any of the words at all."""


@lru_cache(maxsize=512)
def field_name(path: tuple[str, ...]) -> str:
    """One name for a field however a record spells it; an empty string for no path.

    >>> field_name(("attributes", "Restaurants Take Out")), field_name(("Business Parking", "garage"))
    ('takeout', 'parking.garage')
    """
    if not path:
        return ""
    own = _bare(path[-1])
    group = _GROUPS.get(path[-2].lower().split()[-1]) if len(path) > 1 and path[-2] else None
    if group is not None:
        return f"{group}.{own.removesuffix('music') or own}"
    return _GROUPS.get(path[-1].lower().split()[-1], own) if path[-1].strip() and own != "bikeparking" else own


def _bare(key: str) -> str:
    words = key.lower().split()
    kept = [word for word in words if word not in _GENERIC]
    return "".join(kept or words)


def wording(name: str) -> re.Pattern[str] | None:
    """How texts word a field; None when it is none of the known ones."""
    return _PATTERNS.get(name)
