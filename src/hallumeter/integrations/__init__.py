"""hallumeter inside other tools, one file each; a tool is imported only by its own file."""
