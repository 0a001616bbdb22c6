"""Lets `python -m hallumeter` run the command line."""

from hallumeter.cli.main import main

main(prog_name="hallumeter")
