"""Readers and writers of the formats that sparse data comes in."""

from rarefy._atomic import replacing
from rarefy.io._batch import LabelLists, RowBatch
from rarefy.io._csv_iter import CSVError, CSVIter
from rarefy.io._errors import BadLines, LibSVMError
from rarefy.io._file_iter import MXDataIter
from rarefy.io._iterators import DataBatch, DataDesc, DataIter
from rarefy.io._libsvm_iter import LibSVMIter
from rarefy.io._libsvm_load import LibSVMData, load_libsvm
from rarefy.io._libsvm_reader import LibSVMReader
from rarefy.io._libsvm_writer import save_libsvm
from rarefy.io._ndarray_iter import NDArrayIter
from rarefy.io._prefetch import prefetched
from rarefy.io._scan import LibSVMScan, scan_libsvm
from rarefy.io._wrapping import PrefetchingIter, ResizeIter

__all__ = [
    "BadLines",
    "CSVError",
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "LabelLists",
    "LibSVMData",
    "LibSVMError",
    "LibSVMIter",
    "LibSVMReader",
    "LibSVMScan",
    "MXDataIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
    "RowBatch",
    "load_libsvm",
    "prefetched",
    "replacing",
    "save_libsvm",
    "scan_libsvm",
]
