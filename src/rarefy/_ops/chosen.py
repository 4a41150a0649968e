"""A log of the storage types that operators work on, for finding out where something goes dense."""

import logging
import os

from rarefy._ops.infer import Plan
from rarefy._ops.opdef import Signature

_logger = logging.getLogger("rarefy.storage")
_VARIABLE = "MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING"


def log_storage(plan: Plan, given: Signature) -> None:
    """Logs how an operator runs, where the environment variable that MXNet has for it is 1.

    One record of level INFO in the logger `rarefy.storage`: the operator and how it is computed
    (`fcompute_ex` on sparse arrays, `fcompute` on dense ones, `fcompute_fallback` on dense copies), then
    a line for each input and output. Without a handler it goes to the standard error stream.

    Args:
      plan: what will be done.
      given: the storage types of the arrays given.
    """
    if os.environ.get(_VARIABLE) not in ("1", "true", "True"):
        return
    if not _logger.hasHandlers():
        _logger.addHandler(logging.StreamHandler())
    if not _logger.isEnabledFor(logging.INFO):
        _logger.setLevel(logging.INFO)
    how = "fcompute_fallback" if plan.fallback else "fcompute_ex" if plan.rule else "fcompute"
    lines = [f"{plan.op.name}: {how}"]
    lines += [f"\t\tinput {i}: {stype or 'none'}" for i, stype in enumerate(given)]
    lines += [f"\t\toutput {i}: {stype}" for i, stype in enumerate(plan.out)]
    _logger.info("\n".join(lines))
