"""This file tests the reading of files whose functions a profile measures line by line, beside another thread's."""

import itertools
import warnings

from torchmagic.profiling import ranged_code

SOURCE = "def double(x):\n    return 2 * x\n"


def test_a_file_is_read_again_where_another_thread_was_in_the_way(monkeypatch):
    tries, read = itertools.count(), compile

    def in_the_way(*args, **kwargs):
        if next(tries) == 0:
            raise SystemError("AST constructor recursion depth mismatch (before=2, after=55)")
        return read(*args, **kwargs)

    (code,) = ranged_code.nested_codes(compile(SOURCE, "user.py", "exec"))
    monkeypatch.setattr(ranged_code, "compile", in_the_way, raising=False)
    file = ranged_code.ranged_file(SOURCE, code)
    assert file is not None
    assert file.counterpart(code, lambda *_: None) is not None


def test_reading_a_file_does_not_make_python_forget_what_it_has_warned_of():
    (code,) = ranged_code.nested_codes(compile(SOURCE, "user.py", "exec"))
    registry = {}
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(2):
            warnings.warn_explicit("once", UserWarning, "library.py", 1, registry=registry)
            assert ranged_code.ranged_file(SOURCE, code) is not None
    assert len(shown) == 1
