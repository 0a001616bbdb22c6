"""One way to run: journal, cache, resume, progress, stopping, run folder, engines."""
