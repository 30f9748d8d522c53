"""The entry point of the ``lxcim`` command (``pip install lxcim_xp[cli]``).

It imports the commands only when it is called, and a command imports the libraries that compute
only when it runs.
"""

import gc
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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that a terminal lacks is no reason to stop.
            stream.reconfigure(errors="replace")
    # Imported modules stay. Searching them for garbage, again and again and once more at the end,
    # would take a quarter of the time of a small command. The search starts with the actual work.
    gc.disable()
    try:
        from lxcim_xp.cli.app import app

        app(prog_name="lxcim")
    except ImportError as error:
        print(
            f"Error: the lxcim command needs more libraries ({error}). Install them with: "
            f"pip install 'lxcim_xp[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(1) from error
    finally:
        gc.freeze()
        gc.enable()
