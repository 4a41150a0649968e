"""Sparse storage types for machine learning, on JAX with C++ kernels."""
