"""JAX primitives on plain buffers: the loops that decide how fast everything above is.

All are imported together, since the rules of one look others up by name.
"""

from rarefy._primitives._define import PRIMITIVES
from rarefy._primitives.coo_dot_dense import coo_dot_dense
from rarefy._primitives.coo_to_csr import coo_to_csr
from rarefy._primitives.csr_combine import CsrCombined, csr_combine
from rarefy._primitives.csr_dot_csr import csr_dot_csr
from rarefy._primitives.csr_dot_csr_places import CsrPlaces, csr_dot_csr_places
from rarefy._primitives.csr_dot_dense import csr_dot_dense
from rarefy._primitives.csr_matmul import CsrProduct, csr_matmul
from rarefy._primitives.csr_merge import CsrMerged, csr_merge
from rarefy._primitives.csr_sample_dot import csr_sample_dot
from rarefy._primitives.csr_sum_rows import csr_sum_rows
from rarefy._primitives.csr_t_dot_dense import csr_t_dot_dense
from rarefy._primitives.csr_t_dot_rows import csr_t_dot_rows
from rarefy._primitives.csr_t_update import csr_t_update
from rarefy._primitives.csr_to_coo import csr_to_coo
from rarefy._primitives.csr_transpose import CsrTransposed, csr_transpose
from rarefy._primitives.csr_turn import CsrTurned, csr_turn
from rarefy._primitives.dense_places import DensePlaces, dense_places
from rarefy._primitives.group_rows import RowGroups, group_rows
from rarefy._primitives.random_uniform import random_normal, random_uniform
from rarefy._primitives.rows_update import rows_update
from rarefy._primitives.segment_rows import segment_rows
from rarefy._primitives.take_rows import take_rows
from rarefy._primitives.zeros import zeros
