"""MXNet's `contrib`: operators, checks of numbers, and control flow."""

from rarefy._ops import defs as _defs  # noqa: F401 - fills the registry
from rarefy._ops.render import namespace as _namespace
from rarefy.nd._contrib_update import adamw_update as adamw_update
from rarefy.nd._contrib_update import mp_adamw_update as mp_adamw_update
from rarefy.nd._contrib_update import multi_adamw_update as multi_adamw_update
from rarefy.nd._contrib_update import multi_lamb_update as multi_lamb_update
from rarefy.nd._contrib_update import multi_mp_adamw_update as multi_mp_adamw_update
from rarefy.nd._contrib_update import multi_mp_lamb_update as multi_mp_lamb_update
from rarefy.nd._control import cond as cond
from rarefy.nd._control import foreach as foreach
from rarefy.nd._control import while_loop as while_loop
from rarefy.nd._functions import isfinite as isfinite
from rarefy.nd._functions import isinf as isinf
from rarefy.nd._functions import isnan as isnan
from rarefy.nd._functions import rand_zipfian as rand_zipfian
from rarefy.nd._invoke import invoke as _invoke

globals().update(_namespace(_invoke, module="rarefy.nd.contrib", prefix="_contrib_"))
