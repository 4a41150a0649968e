"""More orders of the items of a dataset."""

from rarefy.gluon.data.sampler import IntervalSampler

__all__ = ["IntervalSampler"]
