"""Who reads, debates and reviews sentences."""

from .by_name import AGENT_FORMS, AgentSettings, agent_named
from .language_model import LanguageModelAgent, LanguageModelSettings
from .offline import OfflineAgent
from .prompt_files import prompt_hashes, prompts_digest
from .protocol import ANSWERS, Agent, AgentAnswer, AgentFault, AgentReply, AgentTask, Demonstration, Role
from .scripted import ScriptedAgent
from .sentence_facts import OfflineSettings
from .visibility import visible

__all__ = [
    "AGENT_FORMS",
    "ANSWERS",
    "Agent",
    "AgentAnswer",
    "AgentFault",
    "AgentReply",
    "AgentSettings",
    "AgentTask",
    "Demonstration",
    "LanguageModelAgent",
    "LanguageModelSettings",
    "OfflineAgent",
    "OfflineSettings",
    "Role",
    "ScriptedAgent",
    "agent_named",
    "prompt_hashes",
    "prompts_digest",
    "visible",
]
