"""``python -m demo.backend``: start the demo's server."""

import sys

from demo.backend.server import main

if __name__ == "__main__":
    sys.exit(main())
