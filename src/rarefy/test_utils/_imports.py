"""What programs expect of `from rarefy.test_utils import *` beside its functions: `np`, `mx`, ..."""

import logging
import os
import sys
import time

import numpy as np
import numpy.random as rnd
import numpy.testing as npt

__all__ = ["logging", "mx", "np", "npt", "os", "rnd", "sys", "time"]

mx = sys.modules[__name__.partition(".")[0]]
"""The package, which is importing this; MXNet's tests use it without importing it themselves."""
