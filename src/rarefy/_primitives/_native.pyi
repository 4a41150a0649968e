"""The compiled module; `csrc/module.cc` says what is in it."""

from typing import Any

ffi_targets: dict[str, Any]
text: Any
