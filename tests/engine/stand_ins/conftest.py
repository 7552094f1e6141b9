"""The tests of stand-ins begin in PyNative mode, and leave everything as it was."""

import mindspore as ms
import pytest

from equivalence.host.isolation import isolated


@pytest.fixture(autouse=True)
def pynative():
    with isolated():
        ms.set_context(mode=ms.PYNATIVE_MODE)
        yield
