"""Modules made of modules, and the rest of Module, answer calls as MXNet does."""

from cases.answers import replay_topics
from oracles.mxnet_modules import FILE, TOPICS

test_answers_are_mxnets = replay_topics(FILE, TOPICS)
