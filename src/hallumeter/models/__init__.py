"""Language models and page readers: dialects, pace, retries, prices."""
