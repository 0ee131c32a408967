"""This file tests which lines are found that build layers which take the first dimension for time."""

import pytest

from torchmagic.analyses.mixing_lines import lines_building_time_first


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("a = 1\nself.rnn = nn.GRU(3, 8)", [2]),
        ("layers = [nn.TransformerEncoderLayer(8, 2) for _ in range(2)]", [1]),
        ("self.rnn = nn.LSTM(3, 8, batch_first=False)", [1]),
        ("self.rnn = nn.LSTM(3, 8, batch_first=True)", []),
        ("self.rnn = nn.LSTM(3, 8, batch_first=first)", []),
        ("self.rnn = nn.LSTM(3, 8, **settings)", []),
        ("a = nn.GRU(3, 8)\nb = nn.GRU(8, 8)", [1, 2]),
        ("a = nn.GRU(3, 8)\nb = nn.MultiheadAttention(8, 2, batch_first=True)", [1]),
        ("a = nn.Linear(3, 8)", []),
    ],
)
def test_layers_that_take_time_first_are_found(source, lines):
    assert lines_building_time_first(source) == lines
