"""MXNet's long name of `rarefy.nd`: `import rarefy.ndarray` gives that very package."""

import sys

from rarefy import nd

sys.modules[__name__] = nd
