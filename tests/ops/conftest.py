"""What tests of operators share."""

import pytest

from rarefy import config


@pytest.fixture
def no_fallback(monkeypatch):
    """Makes every dense copy of a sparse array an error."""
    monkeypatch.setattr(config, "storage_fallback", "error")
