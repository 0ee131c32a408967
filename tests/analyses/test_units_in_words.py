"""This file is bytes and seconds in the words of advice: none reads as one of the next unit."""

import pytest

from torchmagic.analyses.memory_cures import sized
from torchmagic.analyses.profile_costs import duration


@pytest.mark.parametrize(
    ("num_bytes", "written"),
    [
        (None, "0 bytes"),
        (1023, "1023 bytes"),
        (2**20 - 1, "1.0 MiB"),
        (2**30 - 1, "1.0 GiB"),
        (1023 * 1024, "1023.0 KiB"),
    ],
)
def test_bytes_are_written_in_the_unit_that_they_round_to(num_bytes, written):
    assert sized(num_bytes) == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0.9996, "1.0 s"),
        (0.9994, "999 ms"),
        (9.996e-3, "10 ms"),
        (9.94, "9.9 s"),
        (9.996e-4, "1.0 ms"),
        (3e-7, "0.3 µs"),
    ],
)
def test_seconds_are_written_in_the_unit_that_they_round_to(seconds, written):
    assert duration(seconds) == written
