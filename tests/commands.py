"""The command line as tests call it."""

from typer.testing import CliRunner, Result

from summarkov.cli.main import app


def run(*arguments: object, code: int = 0, columns: int = 80) -> Result:
    """Run a command that ends with this exit code."""
    how = {"COLUMNS": str(columns), "NO_COLOR": "1"}
    result = CliRunner().invoke(app, [str(each) for each in arguments], env=how)
    assert result.exit_code == code, result.output
    return result


def printed(*arguments: object, code: int = 0, columns: int = 80) -> str:
    """What such a command prints; of one that fails what it says on stderr."""
    result = run(*arguments, code=code, columns=columns)
    return result.stderr if code else result.stdout
