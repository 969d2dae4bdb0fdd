"""``python -m ascendfa.cli``: the command without its console script."""

from ascendfa.cli import main

main()
