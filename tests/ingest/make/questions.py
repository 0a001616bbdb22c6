"""The few questions that every fixture asks, and what the scripted models say; nothing here reaches a network."""

EVIDENCE = "The Seine is 777 km long. It flows through Paris and enters the sea at Le Havre."
QUESTION = "How long is the Seine, and through which city does it flow?"

ANSWERS = {
    "supported": "The Seine is 777 km long. It flows through Paris.",
    "refuted": "The Seine is 999 km long. It flows through Paris.",
    "empty": "",
    "greeting": "Hello! How can I help you today?",
    "unparsable": "The Seine is 777 km long, says the atlas.",
    "broken": "The Seine flows through Paris and Rouen.",
}
"""By the name of the case; the last two are cases in which the evaluator's own model fails."""
