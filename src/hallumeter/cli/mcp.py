"""`hallumeter mcp`: a server for assistants and editors, on the standard input and output."""

from __future__ import annotations

from pathlib import Path

import click

from .parameters import PATH, command


@command(short_help="Let an assistant check answers, over MCP.")
@click.argument("folder", type=PATH, default=Path(), metavar="[DIR]")
def mcp(folder: Path) -> None:
    """Serve assistants and editors over MCP, over standard input and output.

    An assistant can check an answer, audit a file, compare two runs and look up a metric. It needs no key, opens no
    connection, writes nothing, and reads only below DIR (the current folder, unless you name one). Add it to your
    assistant's list of MCP servers; the assistant starts it. Needs the extra `mcp`.

    \b
    Examples:
      hallumeter mcp                   the current folder
      hallumeter mcp /data/answers
    """
    from hallumeter.errors import MissingExtraError

    try:
        from hallumeter.integrations.mcp import mcp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise MissingExtraError("mcp", "serving assistants over MCP") from error
    mcp_server(folder).run("stdio")
