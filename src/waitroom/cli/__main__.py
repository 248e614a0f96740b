"""Makes `python -m waitroom.cli` the same as `waitroom`."""

from waitroom.cli import main

main()
