"""The agents: offline, language models, and functions of the user's own."""
