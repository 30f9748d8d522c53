"""``python -m lxcim_xp`` is the ``lxcim`` command."""

from lxcim_xp.cli import main

main()
