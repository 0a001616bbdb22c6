"""A run beside what people say is true of it."""
