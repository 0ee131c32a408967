"""This file is how numbers are written, and that the panel's script writes them alike."""

import doctest
import json
import math
import shutil
import subprocess
from pathlib import Path

import pytest

import torchmagic.jupyter.panel
from torchmagic.views import numbers
from torchmagic.views.numbers import as_bytes, as_count, as_number, as_seconds, as_share, byte_unit

SCRIPT = Path(torchmagic.jupyter.panel.__file__).parent / "script" / "numbers.js"
VALUES = [
    0.0,
    1.0,
    -2.5,
    0.1,
    0.12345,
    0.99999,
    0.001,
    0.000999,
    0.000123456,
    1234.6,
    9999.6,
    99999.7,
    999999.6,
    123456.7,
    1023.96,
    1048575.0,
    1073741823.0,
    0.99996,
    0.00099996,
    59.9996,
    3599.9,
    0.996,
    0.9996,
    1 - 1e-15,
    1e-12,
    1_500_000.5,
    -3e-9,
    7e12,
    3.5e17,
]


def test_the_examples_hold():
    assert doctest.testmod(numbers).failed == 0


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (3, "3"),
        (10_000, "10,000"),
        (0.1, "0.1"),
        (999.96, "1000"),
        (12345.6, "12,346"),
        (1e6, "1,000,000"),
        (1234567.8, "1.235e6"),
        (10**20, "1e20"),
        (2.5e-12, "2.5e-12"),
        (math.nan, "nan"),
        (None, ""),
    ],
)
def test_a_number_has_four_significant_digits(value, written):
    assert as_number(value) == written


def test_units_fit_the_size():
    assert [as_bytes(n) for n in (0, 1023, 1024, 2.5 * 2**30)] == ["0 B", "1023 B", "1 KiB", "2.5 GiB"]
    assert [as_seconds(n) for n in (0, 3e-7, 0.5, 59.5, 61, 3600)] == [
        "0 s",
        "300 ns",
        "500 ms",
        "59.5 s",
        "1 min 1 s",
        "1 h 0 min",
    ]
    assert [as_share(n) for n in (0, 0.0001, 0.05, 0.0999, 0.5, math.nan)] == [
        "0%",
        "<0.1%",
        "5.0%",
        "10%",
        "50%",
        "nan",
    ]


def test_what_would_read_as_one_of_the_next_unit_is_written_in_it():
    assert [as_bytes(n) for n in (2**20 - 1, 2**30 - 1, 1023.96, 1023 * 1024)] == [
        "1 MiB",
        "1 GiB",
        "1 KiB",
        "1023 KiB",
    ]
    assert byte_unit(2**20 - 1) == (2.0**20, "MiB")
    assert [as_seconds(n) for n in (0.99996, 0.00099996, 59.9996, 0.9994)] == ["1 s", "1 ms", "1 min 0 s", "999.4 ms"]
    assert [as_count(n) for n in (999_999.6, 999.96, 999_949)] == ["1 M", "1 k", "999.9 k"]


def test_a_share_that_is_not_quite_all_does_not_read_as_all():
    assert [as_share(n) for n in (0.9949, 0.996, 0.9989, 0.9997, 9997 / 10000, 1)] == [
        "99%",
        "99.6%",
        "99.9%",
        ">99.9%",
        ">99.9%",
        "100%",
    ]
    assert as_share(sum([0.1] * 10)) == "100%"


def test_nothing_has_a_sign_only_where_it_is_less():
    assert [as_share(n) for n in (-0.0, -1e-7, -0.5)] == ["0%", "0%", "-50%"]
    assert [as_seconds(n) for n in (-0.0, -61, -1e-7)] == ["0 s", "-1 min 1 s", "-100 ns"]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_panel_writes_numbers_alike():
    kinds = {
        "asNumber": as_number,
        "asCount": as_count,
        "asBytes": as_bytes,
        "asSeconds": as_seconds,
        "asShare": as_share,
    }
    calls = ",".join(f"{name}: values.map({name})" for name in kinds)
    program = f"{SCRIPT.read_text()}\nconst values = {json.dumps(VALUES)};\nconsole.log(JSON.stringify({{{calls}}}));"
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True)
    shown = json.loads(done.stdout)
    positive = [index for index, value in enumerate(VALUES) if value >= 0]  # sizes, times and shares have no sign
    for name, write in kinds.items():
        assert [shown[name][i] for i in positive] == [write(VALUES[i]) for i in positive], name
