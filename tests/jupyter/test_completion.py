"""Tab completes options and their values, for our magics only."""

import pytest
from IPython.core.completer import provisionalcompleter

from torchmagic.jupyter.completion import candidates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%torchdebug --le", ["--level"]),
        ("%torchdebug --no", ["--no-save", "--no-source"]),
        ("%%torchdebug --level ad", ["advanced"]),
        ("%%torchdebug --level=ad", ["--level=advanced"]),
        ("%%torchdebug --every 3 --panel t", ["text"]),
        ("%%torchdebug --only backward,gr", ["backward,gradients"]),
        ("%%torchdebug --only backward,ba", []),
        ("%torchdebug o", ["on", "off"]),
        ("%%torchdebug o", []),
        ("%%torchdebug --name --l", ["--level"]),
        ("%%timeit --le", []),
        ("x = '%%torchdebug' --le", []),
        ("%%torchdebugger --le", []),
    ],
)
def test_candidates_fit_what_is_typed(text, expected):
    assert candidates(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%torchdebug --le", "%%torchdebug --level"),
        ("%%torchdebug --level adv", "%%torchdebug --level advanced"),
        ("%%torchdebug --level=adv", "%%torchdebug --level=advanced"),
        ("%%torchdebug --only backward,gr", "%%torchdebug --only backward,gradients"),
        ("%%torchdebug --mode memory_p", "%%torchdebug --mode memory_profiling"),
        ("%torchdebug of", "%torchdebug off"),
    ],
)
def test_a_shell_completes_the_line(shell, text, expected):
    shell.run_line_magic("load_ext", "torchmagic")
    cell = f"{text}\nx = 1"
    with provisionalcompleter():
        found = {
            text[: each.start] + each.text + text[each.end :] for each in shell.Completer.completions(cell, len(text))
        }
    assert found == {expected}
