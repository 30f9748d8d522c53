"""The entry point of the ``lxcim`` command (``pip install lxcim_xp[cli]``).

The commands themselves, and the libraries they need, are imported when the command runs.
"""

import io
import sys


def main() -> None:
    """Run the ``lxcim`` command with the arguments of the process.

    Examples
    --------
    >>> import sys
    >>> from lxcim_xp import __version__, cli
    >>> before, sys.argv = sys.argv, ["lxcim", "--version"]
    >>> try:
    ...     cli.main()
    ... except SystemExit as end:
    ...     print("ended with", end.code)
    ... finally:
    ...     sys.argv = before
    lxcim 0.1.0
    ended with 0
    """
    try:
        from lxcim_xp._cli import app
    except ImportError as error:
        print(
            f"Error: the lxcim command needs more libraries ({error}). Install them with: "
            f"pip install 'lxcim_xp[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(1) from error
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a sign that a terminal lacks is no reason to stop
    app(prog_name="lxcim")
