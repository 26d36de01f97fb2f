"""`python -m chunktune_validate`: see `build`."""

from chunktune_validate.build import main

raise SystemExit(main())
