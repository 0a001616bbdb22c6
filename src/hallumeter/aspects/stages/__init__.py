"""What code does between the agents' answers: tidying, debate, overrides, moderation."""
