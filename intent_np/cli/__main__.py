"""`python -m intent_np.cli` is `intent-np`."""

from intent_np.cli import main

main()
