"""This file tests user code that a magic runs itself, where another thread reads source at the same time."""

import itertools

from torchmagic.jupyter.user_code import UserCode


def test_a_cell_is_read_again_where_another_thread_was_in_the_way(shell, monkeypatch):
    tries, read = itertools.count(), shell.compile.ast_parse

    def in_the_way(*args, **kwargs):
        if next(tries) == 0:
            raise SystemError("AST constructor recursion depth mismatch (before=2, after=55)")
        return read(*args, **kwargs)

    monkeypatch.setattr(shell.compile, "ast_parse", in_the_way)
    assert UserCode(shell, "one = 1\none + 1").run() == 2
    assert next(tries) == 2


def test_code_of_blank_lines_and_comments_is_worth_nothing(shell):
    assert UserCode(shell, "\n\n# a comment\n").run() is None
