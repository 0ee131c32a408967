"""This file tests which line is found that builds a layer which takes the first dimension for time."""

import pytest

from torchmagic.analyses.mixing_lines import line_building_time_first


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a = 1\nself.rnn = nn.GRU(3, 8)", 2),
        ("layers = [nn.TransformerEncoderLayer(8, 2) for _ in range(2)]", 1),
        ("self.rnn = nn.LSTM(3, 8, batch_first=False)", 1),
        ("self.rnn = nn.LSTM(3, 8, batch_first=True)", None),
        ("self.rnn = nn.LSTM(3, 8, batch_first=first)", None),
        ("self.rnn = nn.LSTM(3, 8, **settings)", None),
        ("a = nn.GRU(3, 8)\nb = nn.GRU(8, 8)", None),
        ("a = nn.GRU(3, 8)\nb = nn.MultiheadAttention(8, 2, batch_first=True)", 1),
        ("a = nn.Linear(3, 8)", None),
    ],
)
def test_the_only_layer_that_takes_time_first_is_found(source, line):
    assert line_building_time_first(source) == line
