"""From claims and their evidence to verdicts."""

from .by_name import DEFAULT_JUDGE, JUDGE_FORMS, is_language_model, judge_named
from .embedded.judge import EmbeddedJudge
from .function import FunctionJudge
from .language_model import LanguageModelJudge, LanguageModelSettings
from .panel import Panel
from .protocol import Judge, JudgeSpec, JudgeTask
from .recorded import RecordedJudge
from .rules.judge import RulesJudge

__all__ = [
    "DEFAULT_JUDGE",
    "JUDGE_FORMS",
    "EmbeddedJudge",
    "FunctionJudge",
    "Judge",
    "JudgeSpec",
    "JudgeTask",
    "LanguageModelJudge",
    "LanguageModelSettings",
    "Panel",
    "RecordedJudge",
    "RulesJudge",
    "is_language_model",
    "judge_named",
]
