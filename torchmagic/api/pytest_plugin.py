"""This file is the pytest plug-in: tests that are watched, and that fail with what was found."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from torchmagic.api.watched_test import WatchedTest

MARK = "torchmagic"
_WATCHED = pytest.StashKey["WatchedTest"]()


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the mark."""
    told = "watch the test, and fail it at findings from a severity on or of some rules; other settings as of watch()"
    config.addinivalue_line("markers", f"{MARK}(fail_on='error', **settings): {told}")


@pytest.fixture(name=MARK)
def watched_test(request: pytest.FixtureRequest) -> "WatchedTest":
    """The watch around the test: ``torchmagic.run`` is its run, ``torchmagic.stop()`` ends it and draws findings."""
    return _watched(request.node)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Watch a test that has the mark or uses the fixture; any other costs one look into two dictionaries."""
    if item.get_closest_marker(MARK) is None and _WATCHED not in item.stash:
        return (yield)
    watched = _watched(item)
    watched.start()
    try:
        answer = yield
    except BaseException as error:
        watched.stop(None if isinstance(error, pytest.skip.Exception) else error)
        item.add_report_section("call", MARK, watched.told)
        raise
    watched.stop()
    item.add_report_section("call", MARK, watched.told)
    if watched.failure:
        pytest.fail(watched.failure, pytrace=False)
    return answer


def _watched(item: pytest.Item) -> "WatchedTest":
    if _WATCHED not in item.stash:
        from torchmagic.api.watched_test import WatchedTest, wanted  # noqa: PLC0415 - torch waits for a watched test

        marks = list(item.iter_markers(MARK))
        if any(mark.args for mark in marks):
            pytest.fail(f"@pytest.mark.{MARK} takes settings by name, such as fail_on='warning'", pytrace=False)
        asked = {name: value for mark in reversed(marks) for name, value in mark.kwargs.items()}
        try:
            settings = wanted(asked, name=item.nodeid)
            watched = WatchedTest(settings, function=getattr(item, "obj", None), file=item.path)
        except (ValueError, TypeError, OSError) as error:
            wrong = f"@pytest.mark.{MARK}: {error}"
        else:
            item.stash[_WATCHED] = watched
            return watched
        pytest.fail(wrong, pytrace=False)  # not within the handling of the error, which would be shown as well
    return item.stash[_WATCHED]
