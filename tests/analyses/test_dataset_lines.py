"""This file tests the lines by which a dataset gives one sample always, or its samples only once."""

import textwrap

import pytest

from torchmagic.analyses.dataset_lines import lines_keeping_a_sample, lines_keeping_an_iterator

STREAM = """
class Stream(IterableDataset):
    def __init__(self, path):
        self.path = path
        self.rows = {made}

    def __iter__(self):
        {going}
"""
CACHE = """
class Cached(Dataset):
    def __getitem__(self, i):
        {line}
            self.kept = self.load({given})
        return self.kept
"""


@pytest.mark.parametrize(
    ("made", "going", "found"),
    [
        ("csv.reader(open(path))", "for row in self.rows:\n            yield row", [5]),
        ("(line for line in open(path))", "yield from self.rows", [5]),
        ("iter(data)", "return self.rows", [5]),
        ("open(path)", "return map(parse, self.rows)", [5]),
        ("path", "for row in self.rows:\n            yield row", []),
        ("csv.reader(open(path))", "for row in csv.reader(open(self.path)):\n            yield row", []),
    ],
)
def test_an_iterator_that_a_constructor_makes_is_found(made, going, found):
    assert lines_keeping_an_iterator(STREAM.format(made=made, going=going)) == found


@pytest.mark.parametrize(
    ("line", "given", "found"),
    [
        ("if self.kept is None:", "i", [5]),
        ("if not hasattr(self, 'kept'):", "i", [5]),
        ("if i not in self.kept:", "i", []),
        ("if self.other is None:", "i", []),
        ("if self.kept is None:", "", []),
    ],
)
def test_a_sample_that_is_kept_for_every_index_is_found(line, given, found):
    assert lines_keeping_a_sample(CACHE.format(line=line, given=given)) == found


def test_what_is_no_dataset_has_none():
    source = textwrap.dedent("""
        class Net:
            def __init__(self):
                self.rows = iter([])
            def forward(self, x):
                return list(self.rows)
    """)
    assert lines_keeping_an_iterator(source) == lines_keeping_a_sample(source) == []
