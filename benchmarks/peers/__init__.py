"""The same answers through several tools, with the same scripted judge."""
