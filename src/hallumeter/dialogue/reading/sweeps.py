"""The two readings of a sentence that bring cues to what they speak of."""

from __future__ import annotations

import re

from .cues import (
    ADVISED,
    AVOIDED,
    CLAUSE,
    EXAMPLE,
    FAMILY,
    MENTIONED,
    NEGATED,
    PHRASE,
    POSSIBLE,
    SENTENCE,
    Endings,
    Reach,
    Role,
)
from .scopes import AHEAD_OF, BACK_OF, CLOSE, COMMA, OPEN, SEMICOLON, Active, Facts, Given, Item, Span, Target

Actives = dict[int, Active]

_OBJECT_SCOPES = (NEGATED, AVOIDED, POSSIBLE, ADVISED)
"""Scopes that verbs give to their objects."""
_NEAR_AHEAD, _NEAR_BACK = 14, 3
_NEXT_AHEAD, _NEXT_BACK = 30, 14
"""Characters between a cue and what it works on at once, and between that and the next of a list."""
_IN_LIST = re.compile(r"[^,]{0,20}(?:,|\b(?:and|or|nor|plus)\b|[/(·]).*|\s*")
_LISTED_BACK = 24
"""The same for examples, of which not all need be known."""
_LIST_GOES_ON = re.compile(r"[\s)]*(?:[,·/(]|(?:및|또는|그리고|and|or)\s|(?:이나|나|와|과|이랑|랑|하고|도)\s)")
_DENIED_VERB = 12
"""Characters between a verb and its denial: 복용하고 있지 않습니다."""
_AFTER_VERB = 3
_IN_FAMILY = Reach(FAMILY, CLAUSE)
_DENIED_DOING = 36
"""Characters between a denial and the verb after "to" that it reaches: "not a good idea for you to eat"."""
_BARE_DENIALS = ("not", "n't", "never")
_AFTER_AND = frozenset({"d ", " (", "\n("})
"""The last letters before a verb that may begin a clause."""
_COPULAS = frozenset({"is", "are", "was", "were"})
_FIRST_WORD = re.compile(r"\s?([a-z]+)")


_GOES_ON_TELLING = re.compile(
    r"(?<=, )[^.;!?\n]{1,80}?,? and "
    r"(?:you (?:are|have|had)|(?:you're|are|weigh|have an?)\b|your [a-z0-9 ]{2,30}? (?:is|was|are|were)\b)"
)
"""From the verb after a comma on: it is one in a row of things that the patient is told to be, have and take."""


class _Sweep:
    """What both readings share."""

    def __init__(self, lower: str, levels: dict[int, int]) -> None:
        self._lower = lower
        self._levels = levels
        """How strong a stop each comma is, by its place; filled by the reading from right to left."""
        self._actives: Actives = {}
        self._outer: list[Actives] = []

    def _stop(self, level: int) -> None:
        if self._actives:
            self._actives = {scope: active for scope, active in self._actives.items() if active.level > level}

    def _enter(self) -> None:
        self._outer.append(dict(self._actives))

    def _leave(self) -> None:
        if self._outer:
            self._actives = self._outer.pop()

    def _follows_and(self, start: int) -> bool:
        """Whether a verb here begins a clause: after "and", or in brackets."""
        return self._lower[start - 4 : start] == "and " or self._lower[start - 1 : start] == "("


class BackwardSweep(_Sweep):
    """Reads from right to left."""

    def __init__(self, lower: str, levels: dict[int, int], endings: Endings) -> None:
        super().__init__(lower, levels)
        self._endings = endings
        self._has_clause = False
        self._condition: Span | None = None
        self._carried: tuple[Actives, int] | None = None
        """Cues of the next clause, which may still have the topic of this one as their object; and where it begins."""

    def run(self, items: list[Item]) -> None:
        """Bring cues to what stands before them."""
        for place in range(len(items) - 1, -1, -1):
            start, end, code, role, target = items[place]
            if role is not None:
                if role.works_back:
                    self._read_cue(start, end, role)
                elif role.is_verb:
                    self._read_verb(start, end, role)
            elif target is not None:
                if self._actives or self._carried is not None:
                    self._read_target(target)
                target.condition = self._condition
            else:
                self._read_mark(code, start, place)

    def _read_verb(self, start: int, end: int, role: Role) -> None:
        """Read a cue that does no more than to be a verb."""
        if role.is_opener and self._lower[start - 2 : start] in _AFTER_AND and self._follows_and(start):
            self._stop_at(CLAUSE, end)
        self._has_clause = True
        if self._actives and not (self._lower[start:end] in _COPULAS and self._has_own_predicate(end)):
            self._drop_objects()

    def _has_own_predicate(self, end: int) -> bool:
        """Whether a denial belongs to the verb before it, with one word between: "is simply not an option"."""
        denial = self._actives.get(NEGATED) or self._actives.get(AVOIDED)
        if denial is None or denial.is_used or denial.cue[0] - end > _DENIED_VERB + 2:
            return False
        return len(self._lower[end : denial.cue[0]].split()) == 1

    def _read_cue(self, start: int, end: int, role: Role) -> None:
        if role.stop:
            self._stop_at(role.stop, end)
        elif role.is_opener and self._follows_and(start):
            self._stop_at(CLAUSE, end)
        if role.is_finite:
            self._has_clause = True
        if role.is_verb:
            self._drop_objects()
        elif role.is_predicate:
            self._pass_predicate(end)
        for reach in role.back:
            active = self._actives[reach.scope] = Active((start, end), reach, start)
            active.is_shared = reach.scope == AVOIDED and self._lower[start - 4 : start] == "and "
        if role.is_condition and role.ahead:
            self._condition = start, end

    def _read_mark(self, code: int, start: int, place: int) -> None:
        if code == COMMA:
            if self._has_clause and not self._is_korean(start):
                self._levels[place] = CLAUSE
                self._stop_at(CLAUSE, start + 1)
            self._has_clause = False
        elif code == CLOSE:
            self._enter()
        elif code == OPEN:
            self._leave()
        else:
            self._has_clause = False
            self._stop_at(SENTENCE if code == SEMICOLON else CLAUSE, start + 1)

    def _is_korean(self, comma: int) -> bool:
        """Whether a comma stands in Korean, where clauses are told by their endings."""
        around = self._lower[comma - 1 : comma] + self._lower[comma + 1 : comma + 3].strip()[:1]
        return any("가" <= character <= "힣" for character in around)

    def _stop_at(self, level: int, end: int) -> None:
        """Read a stop that ends here."""
        self._carried = None
        if level >= CLAUSE:
            self._condition = None
            if self._actives and level == CLAUSE and "가" <= self._lower[end - 1] <= "힣":
                objects = {scope: self._actives[scope] for scope in _OBJECT_SCOPES if scope in self._actives}
                self._carried = (objects, end) if objects else None
        self._stop(level)

    def _drop_objects(self) -> None:
        if not self._actives:
            return
        for scope in _OBJECT_SCOPES:
            active = self._actives.get(scope)
            if active is not None and active.level <= CLAUSE and not active.is_shared:
                del self._actives[scope]

    def _pass_predicate(self, end: int) -> None:
        """Let a verb take what stands before it, unless it is itself what is denied or forbidden."""
        self._carried = None
        denial = self._actives.get(NEGATED) or self._actives.get(AVOIDED)
        if denial is None:
            self._drop_objects()
            return
        start = denial.cue[0]
        if start - end > _DENIED_VERB or self._endings.has_other(self._lower, end, start):
            self._drop_objects()

    def _read_target(self, target: Target) -> None:
        allowed = BACK_OF[target.kind]
        for scope, active in self._actives.items():
            if (allowed >> scope & 1 or self._is_denied_value(scope, active, target)) and self._reaches(
                scope, active, target
            ):
                target.offer(scope, active.cue)
                active.reference, active.is_used = target.name_start, True
        if target.scope == MENTIONED and self._carried is not None and allowed & 1:
            self._offer_carried(target)

    def _is_denied_value(self, scope: int, active: Active, target: Target) -> bool:
        """Whether a value is denied directly: 7.2%가 아니라."""
        if scope != NEGATED or active.reference - target.end > _NEAR_BACK:
            return False
        return "아" in self._lower[active.cue[0] : active.cue[1]]

    def _reaches(self, scope: int, active: Active, target: Target) -> bool:
        lower, end = self._lower, target.end
        if active.is_near:
            gap = active.reference - end
            if gap > (_NEXT_BACK if active.is_used else _NEAR_BACK) and scope == EXAMPLE:
                return gap <= _LISTED_BACK and _LIST_GOES_ON.match(lower, end) is not None
            return gap <= (_NEXT_BACK if active.is_used else _NEAR_BACK)
        if (
            scope not in _OBJECT_SCOPES
            or not "가" <= lower[active.cue[0]] <= "힣"
            or target.kind in {"value", "person"}
        ):
            return True
        if lower[active.cue[0]] == "없" and self._endings.is_topic(lower, end):
            return not self._endings.has_other(lower, end, active.reference)
        if scope == NEGATED and lower[active.cue[0]] == "지" and self._endings.is_topic(lower, end):
            return not self._endings.has_own_object(lower, end, active.cue[0])
        return not self._endings.is_oblique(lower, end)

    def _offer_carried(self, target: Target) -> None:
        """Bring the verb of the next clause to the topic of this one: 이부프로펜은 신장에 부담을 주므로 피하세요."""
        assert self._carried is not None
        actives, start = self._carried
        if not self._endings.is_topic(self._lower, target.end):
            return
        for scope, active in actives.items():
            if BACK_OF[target.kind] >> scope & 1 and not self._endings.has_argument(self._lower, start, active.cue[0]):
                target.offer(scope, active.cue)


class ForwardSweep(_Sweep):
    """Reads from left to right, after the other."""

    def __init__(self, lower: str, levels: dict[int, int], given: Given) -> None:
        super().__init__(lower, levels)
        self._given = given
        self._actives = dict(given.actives)
        self.facts = Facts(clauses=set())
        self.has_family = False
        """Whether the family is spoken of."""
        self._denial: tuple[Span, int] | None = None
        """The last denial of the clause or advice against something, and its scope."""
        self.clause = 0
        """How many clauses ended so far."""
        self._condition: Span | None = None
        self._verb_end = self._possessive_end = -100
        self._cue_end = -1
        self._is_told = False
        """Whether the patient is the subject of a fact: "You have gout and take …"."""

    @property
    def remaining(self) -> Actives:
        """The cues that still work at the end."""
        return self._actives

    def run(self, items: list[Item]) -> None:
        """Bring cues to what follows them."""
        for place, (start, end, code, role, target) in enumerate(items):
            if role is not None:
                if role.works_ahead:
                    self._read_cue(start, end, role)
            elif target is not None:
                self._read_target(target)
            else:
                self._read_mark(code, start, place)

    def _read_cue(self, start: int, end: int, role: Role) -> None:
        self._cue_end = end
        is_told = self._is_told
        follows_and = (
            role.is_opener
            and self._lower[start - 2 : start] in _AFTER_AND
            and self._follows_and(start)
            and not self._is_denied_too(start)
        )
        if role.stop == PHRASE and self._denial is not None and self._denies_doing(start, end):
            return
        if role.stop:
            self._stop_at(role.stop)
        elif follows_and:
            self._stop_at(CLAUSE)
        if role.is_noted:
            self._note((start, end), role)
        if role.ahead:
            # Neither "You have gout and take colchicine" gives advice nor "You have gout, take colchicine, and are 60".
            is_fact = is_told and (follows_and or _GOES_ON_TELLING.match(self._lower, start) is not None)
            self._read_reaches((start, end), role, without=ADVISED if is_fact else None)
        if role.denies or role.avoids:
            self._denial = (start, end), NEGATED if role.denies else AVOIDED

    def _denies_doing(self, start: int, end: int) -> bool:
        """Let a denial reach over "to", if it does: "not safe to eat", "dangerous for you to take"."""
        assert self._denial is not None
        cue, scope = self._denial
        between = self._lower[cue[1] : start]
        if self._lower[start:end] != "to" or len(between) > _DENIED_DOING or "," in between or " and " in between:
            return False
        verb = _FIRST_WORD.match(self._lower, end)
        if verb is None or verb.group(1) not in self._given.doing:
            return False
        self._actives[scope] = Active(cue, Reach(scope, PHRASE), end)
        return True

    def _is_denied_too(self, start: int) -> bool:
        """Whether a verb after "and" shares a denial with the one before it: "do not smoke and drink"."""
        active = self._actives.get(NEGATED)
        if active is None or start - active.cue[1] > _DENIED_DOING:
            return False
        between = self._lower[active.cue[1] : start]
        return self._lower.endswith(_BARE_DENIALS, 0, active.cue[1]) and len(between.split()) == 2

    def _note(self, cue: Span, role: Role) -> None:
        if role.is_fact:
            self._read_fact(cue, role)
        if role.is_family:
            self.has_family = True
        elif role.is_third_person and (self.has_family or self._given.is_family):
            self.has_family = True
            self._actives[FAMILY] = Active(cue, _IN_FAMILY, cue[1])
        if role.is_condition:
            self._condition = cue
        if role.is_subject or role.is_modal:
            self._is_told = not role.is_modal

    def _read_reaches(self, cue: Span, role: Role, *, without: int | None) -> None:
        for reach in role.ahead:
            if reach.scope != without:
                self._actives[reach.scope] = Active(cue, reach, cue[1])
        if not role.is_possessive:
            self._possessive_end = -100

    def _read_fact(self, cue: Span, role: Role) -> None:
        self.facts.clauses.add(self.clause)
        if self.facts.cue is None:
            self.facts.cue = cue
        if role.is_predicate:
            self._verb_end = cue[1]
        if role.is_possessive:
            self._possessive_end = cue[1]

    def _stop_at(self, level: int) -> None:
        if self._actives:
            self._stop(level)
        if level >= CLAUSE:
            self.clause += 1
            self._possessive_end = -100
            self._denial = None
        if level >= SENTENCE:
            self._condition = None
            self._is_told = False

    def _read_mark(self, code: int, start: int, place: int) -> None:
        if code == OPEN:
            self._enter()
        elif code == CLOSE:
            self._leave()
        elif place == self._given.colon:
            self._stop_at(CLAUSE)
            self._actives.update(self._given.actives)
            self._actives.update(self._given.label)
        elif self._cue_end == start:  # "For example, …"
            return
        elif code == COMMA:
            if place in self._levels:
                self._stop_at(self._levels[place])
        else:
            self._stop_at(SENTENCE if code == SEMICOLON else CLAUSE)

    def _read_target(self, target: Target) -> None:
        if self._actives:
            allowed = AHEAD_OF[target.kind]
            for scope, active in self._actives.items():
                if allowed >> scope & 1 and (not active.is_near or self._reaches(active, target)):
                    target.offer(scope, active.cue)
                    active.reference, active.is_used = target.end, True
        target.clause = self.clause
        target.condition = self._condition or target.condition
        target.is_strong = target.name_start - self._verb_end <= _AFTER_VERB
        if target.name_start - self._possessive_end <= _NEAR_AHEAD:
            target.is_possessed = True
            self._possessive_end = target.end

    def _reaches(self, active: Active, target: Target) -> bool:
        """Whether a cue that works only on its neighbours reaches a target."""
        if active.is_used:  # for another of a list, or another value of the same name
            gap = self._lower[active.reference : target.name_start]
            return len(gap) <= _NEXT_AHEAD and _IN_LIST.fullmatch(gap) is not None
        return 0 <= target.name_start - active.reference <= _NEAR_AHEAD
