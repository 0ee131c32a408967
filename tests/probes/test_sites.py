"""This file tests whose a line is: the user's, or a library's, wherever that is installed."""

from collections.abc import Callable
from types import FrameType

import pytest

from torchmagic.probes.sites import caller_of, is_users_file

LIBRARY = """
import sys

def fit(step):
    return step()

def innermost():
    return sys._getframe()
"""


@pytest.mark.parametrize(
    "file",
    [
        "/home/ada/.local/lib/python3.11/site-packages/lightning/fabric/call.py",  # pip install --user
        "/usr/lib/python3/dist-packages/sklearn/base.py",  # a package of the system, seen from an environment
        "/apps/software/timm/1.0/lib/python3.11/site-packages/timm/loss.py",  # a module of a cluster, on the path
    ],
)
def test_what_is_installed_elsewhere_is_a_librarys(file: str) -> None:
    assert not is_users_file(file)


@pytest.mark.parametrize("file", ["/home/ada/site-packages-of-mine/train.py", "<ipython-input-3-0123>", "train.py"])
def test_what_is_not_installed_is_the_users(file: str) -> None:
    assert is_users_file(file)


def test_the_line_that_called_an_installed_library_is_the_users(installed: Callable[[str, str], None]) -> None:
    installed("a_library_elsewhere", LIBRARY)
    import a_library_elsewhere  # noqa: PLC0415 - exists from here on

    frame: FrameType = a_library_elsewhere.fit(a_library_elsewhere.innermost)
    found = caller_of(frame)
    assert found is not None
    assert found.f_code.co_filename == __file__
