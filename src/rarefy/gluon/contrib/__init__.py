"""Parts that MXNet kept apart: the estimator, more layers and samplers."""

from rarefy.gluon.contrib import data, estimator, nn
