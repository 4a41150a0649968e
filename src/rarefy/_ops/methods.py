"""Which operators are methods of arrays and of symbols."""

METHODS = (
    *("abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "clip"),
    *("cos", "cosh", "degrees", "exp", "expm1", "fix", "floor", "log", "log10", "log1p", "log2"),
    *("radians", "rcbrt", "reciprocal", "relu", "rint", "round", "rsqrt", "sigmoid", "sign", "sin"),
    *("sinh", "sqrt", "square", "tan", "tanh", "trunc", "zeros_like", "ones_like"),
    *("sum", "mean", "prod", "nansum", "nanprod", "max", "min", "norm", "argmax", "argmin"),
    *("argmax_channel", "sort", "argsort", "topk", "softmax", "log_softmax", "softmin"),
    *("broadcast_axes", "broadcast_like", "broadcast_to", "diag", "expand_dims", "flatten", "flip"),
    *("one_hot", "pad", "pick", "repeat", "reshape_like", "shape_array", "size_array", "slice"),
    *("depth_to_space", "space_to_depth"),
    *("slice_axis", "slice_like", "split", "squeeze", "swapaxes", "take", "tile", "transpose"),
)
"""Operators that are methods too. `reshape`, `astype`, `copy` and the like are written by hand."""
