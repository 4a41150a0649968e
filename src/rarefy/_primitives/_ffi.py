"""The compiled module: registers its XLA FFI handlers once. Nothing else imports it."""

import jax

from rarefy._primitives import _native

TARGETS: tuple[str, ...] = tuple(_native.ffi_targets)

for _name, _handler in _native.ffi_targets.items():
    jax.ffi.register_ffi_target(_name, _handler, platform="cpu")
