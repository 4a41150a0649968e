"""Gradients by the rows of a table, under JAX's own transformations."""

from rarefy.sparse._row_grad._blame import DenseUseError
from rarefy.sparse._row_grad._gradient import row_value_and_grad
from rarefy.sparse._row_grad._marks import marked_leaves
from rarefy.sparse._row_grad._programs import Programs
