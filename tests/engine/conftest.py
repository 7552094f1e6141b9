"""Hypothesis draws the same examples in every run; HYPOTHESIS_PROFILE=search looks further."""

import os

from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("gate", derandomize=True, max_examples=50, **COMMON)
settings.register_profile("search", max_examples=5000, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))
