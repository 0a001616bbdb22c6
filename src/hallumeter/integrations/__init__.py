"""Adapters that bring `hallumeter.check` and finished runs into other evaluation tools, one module for each tool."""
