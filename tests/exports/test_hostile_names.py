"""This file tests that no name of the user's leads out of the path, becomes markup, or stops an export."""

import pytest

from torchmagic.exports.catalogue import EXPORTERS, export
from torchmagic.exports.names import LONGEST_FILE, LONGEST_KEY, file_word, folder_name, key

OWN = [exporter for exporter in EXPORTERS if exporter.name not in {"mlflow", "wandb", "trackio"}]
NEEDS = {"parquet": "pyarrow", "tensorboard": "tensorboard"}


@pytest.mark.parametrize("exporter", OWN, ids=[exporter.name for exporter in OWN])
def test_an_export_stays_where_it_was_pointed(exporter, hostile, named, tmp_path):
    if exporter.name in NEEDS:
        pytest.importorskip(NEEDS[exporter.name])
    (tmp_path / "in").mkdir()
    target = tmp_path / "in" / f"out{exporter.suffixes[0] if exporter.suffixes else ''}"
    export([hostile, named(hostile.name, run_id=hostile.name)], target, to=exporter.name)
    assert list(tmp_path.iterdir()) == [tmp_path / "in"]
    assert list((tmp_path / "in").iterdir()) == [target]
    assert all(path.stat().st_size for path in [target, *target.rglob("*")])


def test_a_folder_name_is_one_plain_word(hostile, named):
    name = folder_name(named(hostile.name, run_id=hostile.name))
    assert 0 < len(name) <= 2 * LONGEST_FILE + 1
    assert name.isascii()
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
    assert ".." not in name


def test_two_names_never_become_one_key(harmful):
    keys = [key("loss", word) for word in harmful if word] + [key("loss", "two_lines__three"), key("loss", "x")]
    assert len(set(keys)) == len(keys)
    assert all(len(each) <= LONGEST_KEY and ".." not in each.split("/") for each in keys)


def test_ordinary_names_stay_as_they_are():
    assert key("grad_norm", "net._fc.0.weight") == "grad_norm/net._fc.0.weight"
    assert file_word("lr-sweep_2.5") == "lr-sweep_2.5"


def test_markdown_has_no_markup_of_the_names(named, tmp_path):
    word = "<b>|x|</b> [l](http://a) # h"
    text = export(named(word), tmp_path / "a.md").read_text()
    outside_code = "".join(part for index, part in enumerate(text.split("`")) if index % 2 == 0)
    assert "<b>" not in outside_code
    assert "[l](" not in outside_code.replace("\\[l\\](", "")


def test_plain_text_moves_no_cursor(named, tmp_path):
    text = export(named("a\x1b[2Jb\rc\u202ed"), tmp_path / "a.txt").read_text()
    assert not set(text) & set("\x1b\r\u202e")
