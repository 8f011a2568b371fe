# SPDX-License-Identifier: MIT
"""The posenc command of the wheel: python3 -m posenc, and the script posenc."""

import os
import sys

from ._command import binary


def main() -> None:
    """Becomes the command."""
    os.execv(binary(), ["posenc", *sys.argv[1:]])


if __name__ == "__main__":
    main()
