"""Which step made an error, saw it, ignored it or repaired it."""
