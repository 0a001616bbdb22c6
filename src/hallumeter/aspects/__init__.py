"""The instrument for aspect-based sentiment: agents, stages, scorecards, blame, replay."""
