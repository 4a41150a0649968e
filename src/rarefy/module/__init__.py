"""Modules: graphs that are trained over iterators."""

from rarefy.module._base import BaseModule
from rarefy.module._bucketing import BucketingModule
from rarefy.module._module import Module
from rarefy.module._python import PythonLossModule, PythonModule
from rarefy.module._sequential import SequentialModule

__all__ = [
    "BaseModule",
    "BucketingModule",
    "Module",
    "PythonLossModule",
    "PythonModule",
    "SequentialModule",
]
