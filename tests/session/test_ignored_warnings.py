"""This file tests that warnings are ignored for a while, and that Python then still knows what it has shown."""

import threading
import warnings

import pytest

from torchmagic.session.ignored_warnings import ignored_warnings, uncounted_changes, untouched_warnings

BOTH = pytest.mark.parametrize("ignoring", [ignored_warnings, untouched_warnings])


@pytest.fixture
def shown():
    """Warnings that were shown, each once."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        yield shown


def warn(registry, text="old"):
    warnings.warn_explicit(text, UserWarning, "library.py", 1, registry=registry)


@BOTH
def test_what_was_shown_once_is_not_shown_again_and_what_was_ignored_is_still_to_come(ignoring, shown):
    registry = {}
    warn(registry)
    with ignoring():
        warn(registry, "new")
    assert [str(each.message) for each in shown] == ["old"]
    warn(registry)
    warn(registry, "new")
    assert [str(each.message) for each in shown] == ["old", "new"]


@BOTH
def test_the_filters_are_as_they_were_and_others_that_were_put_among_them_stay(ignoring, shown):
    before = list(warnings.filters)
    with ignoring():
        with ignoring():
            assert len(warnings.filters) == len(before) + 2
        assert len(warnings.filters) == len(before) + 1
    assert warnings.filters == before
    with ignored_warnings():
        warnings.simplefilter("error", BytesWarning)
    assert warnings.filters == [("error", None, BytesWarning, None, 0), *before]
    with ignored_warnings():
        warnings.resetwarnings()
    assert warnings.filters == []


def test_filters_that_the_users_code_changes_when_we_run_it_are_put_back(shown):
    before = list(warnings.filters)
    with untouched_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="new"):
            warn({}, "new")
    assert warnings.filters == before


@BOTH
def test_a_copy_of_the_filters_that_outlives_it_ignores_nothing(ignoring, shown):
    first, second = warnings.catch_warnings(), warnings.catch_warnings()
    with ignoring():
        first.__enter__()
        second.__enter__()
        warn({})
    second.__exit__()
    warn({}, "in the first")
    first.__exit__()
    warn({}, "in none")
    assert [str(each.message) for each in shown] == ["in the first", "in none"]


@BOTH
def test_another_thread_warns_unless_it_is_the_users_code_that_we_run(ignoring, shown):
    with ignoring():
        thread = threading.Thread(target=warn, args=({},))
        thread.start()
        thread.join()
    assert len(shown) == (ignoring is ignored_warnings)


def test_only_the_category_that_is_named_is_ignored(shown):
    with ignored_warnings(DeprecationWarning):
        warnings.warn("of threads", DeprecationWarning, stacklevel=1)
        warn({})
    assert [each.category for each in shown] == [UserWarning]


def load():
    """Do what libraries do while they are loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")


def test_what_was_shown_once_is_known_after_a_library_was_loaded(shown):
    registry, count = {}, warnings._filters_mutated
    warn(registry)
    with uncounted_changes():
        load()
    warn(registry)
    assert len(shown) == 1
    assert warnings._filters_mutated is count
    load()
    warn(registry)
    assert len(shown) == 2


def test_changes_of_another_thread_count_while_a_library_is_loaded(shown):
    registry = {}
    warn(registry)
    with uncounted_changes():
        thread = threading.Thread(target=load)
        thread.start()
        thread.join()
    warn(registry)
    assert len(shown) == 2
