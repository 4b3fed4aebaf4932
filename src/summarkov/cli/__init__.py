"""The command line: parse, call, print. The only room that knows typer and rich."""
