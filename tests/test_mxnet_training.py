"""Stores, iterators, metrics, logs and modules answer calls as MXNet does."""

from cases.answers import replay_topics
from oracles.mxnet_training import FILE, TOPICS

test_answers_are_mxnets = replay_topics(FILE, TOPICS)
