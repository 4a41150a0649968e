"""Modules: graphs that are trained over iterators."""

from rarefy.module._base import BaseModule
from rarefy.module._module import Module

__all__ = ["BaseModule", "Module"]
