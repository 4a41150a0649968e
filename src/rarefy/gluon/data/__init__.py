"""Datasets, orders of their items, and batches."""

from rarefy.gluon.data import dataloader, dataset, sampler
from rarefy.gluon.data.dataloader import DataLoader
from rarefy.gluon.data.dataset import ArrayDataset, Dataset, SimpleDataset
from rarefy.gluon.data.sampler import (
    BatchSampler,
    FilterSampler,
    IntervalSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)

__all__ = [
    "ArrayDataset",
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "FilterSampler",
    "IntervalSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SimpleDataset",
    "dataloader",
    "dataset",
    "sampler",
]
