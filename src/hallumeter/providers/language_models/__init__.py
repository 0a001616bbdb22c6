"""Language models behind one method."""

from .anthropic import AnthropicProvider
from .by_name import PROVIDER_FORMS, provider_named, provider_spec
from .faults import PASSING_CODES, ProviderFault
from .openai_compatible import OpenAICompatibleProvider
from .prices import Price, parse_price, price_of
from .protocol import (
    Completion,
    Message,
    Provider,
    ProviderSpec,
    RateLimits,
    Reply,
    ReplySchema,
    Request,
    TokenLogprob,
    Usage,
)
from .scripted import ScriptedProvider
from .tokens import estimated_tokens

__all__ = [
    "PASSING_CODES",
    "PROVIDER_FORMS",
    "AnthropicProvider",
    "Completion",
    "Message",
    "OpenAICompatibleProvider",
    "Price",
    "Provider",
    "ProviderFault",
    "ProviderSpec",
    "RateLimits",
    "Reply",
    "ReplySchema",
    "Request",
    "ScriptedProvider",
    "TokenLogprob",
    "Usage",
    "estimated_tokens",
    "parse_price",
    "price_of",
    "provider_named",
    "provider_spec",
]
