"""Checkpoints of symbols and parameters, in MXNet's files.

`prefix-symbol.json` has the symbol, `prefix-0001.params` the parameters after epoch 1: arguments by
the name `arg:NAME`, auxiliary states by `aux:NAME`.
"""

import logging
import os
from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from rarefy.base import MXNetError
from rarefy.context import cpu
from rarefy.nd import load as load_arrays
from rarefy.nd import save as save_arrays
from rarefy.sym import load as load_symbol

BatchEndParam = namedtuple("BatchEndParams", ["epoch", "nbatch", "eval_metric", "locals"])
"""What a callback of a batch gets: numbers of epoch and batch, the metric, and the variables of who
calls it."""


def save_checkpoint(
    prefix: str | os.PathLike,
    epoch: int,
    symbol: Any,
    arg_params: Mapping[str, Any],
    aux_params: Mapping[str, Any],
    remove_amp_cast: bool = True,
) -> None:
    """Saves a symbol and parameters.

    Args:
      prefix: what the names of the files begin with.
      epoch: the number in the name of the parameters' file.
      symbol: the symbol, or None for parameters alone.
      arg_params, aux_params: arrays by name.
      remove_amp_cast: accepted for MXNet's sake; there are no such operators here.

    Raises:
      OSError: a file cannot be written.
    """
    if symbol is not None:
        symbol.save(f"{os.fspath(prefix)}-symbol.json")
    arrays = {f"arg:{name}": a.as_in_context(cpu()) for name, a in arg_params.items()}
    arrays |= {f"aux:{name}": a.as_in_context(cpu()) for name, a in aux_params.items()}
    path = _params_file(prefix, epoch)
    save_arrays(path, arrays)
    logging.info('Saved checkpoint to "%s"', path)


def load_params(prefix: str | os.PathLike, epoch: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Loads parameters.

    Returns:
      Arguments and auxiliary states by name.

    Raises:
      OSError: there is no such file.
      MXNetError: the file is damaged, or its arrays have other names.
    """
    path = _params_file(prefix, epoch)
    arrays = load_arrays(path)
    found: dict[str, dict[str, Any]] = {"arg": {}, "aux": {}}
    if not arrays:
        logging.warning("Params file '%s' is empty", path)
        return found["arg"], found["aux"]
    if not isinstance(arrays, dict):
        raise MXNetError(
            f"{path} has arrays without names; those of parameters have 'arg:' or 'aux:'"
        )
    for name, array in arrays.items():
        kind, colon, own = name.partition(":")
        if not colon:
            raise MXNetError(
                f"{path}: the array {name!r} has neither 'arg:' nor 'aux:' before its name"
            )
        found.setdefault(kind, {})[own] = array
    return found["arg"], found["aux"]


def load_checkpoint(
    prefix: str | os.PathLike, epoch: int
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Loads what `save_checkpoint` saved, here or in MXNet.

    Returns:
      The symbol, arguments and auxiliary states by name.

    Raises:
      MXNetError, OSError: there is no such file.
      MXNetError: a file is damaged.
    """
    symbol = load_symbol(f"{os.fspath(prefix)}-symbol.json")
    return symbol, *load_params(prefix, epoch)


def _params_file(prefix: str | os.PathLike, epoch: int) -> str:
    return f"{os.fspath(prefix)}-{epoch:04d}.params"
