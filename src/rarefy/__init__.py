"""Sparse storage types for machine learning, on JAX with C++ kernels."""

from rarefy._version import __version__ as __version__
