"""This file tests what is told of the rows and columns of a batch that is not finite."""

import pytest
import torch

from torchmagic.probes.operands import bad_parts, described, where_bad

NAN, INF = float("nan"), float("inf")


def table(**bad):
    values = torch.ones(6, 4)
    for column in bad.get("columns", ()):
        values[:, column] = NAN
    for row in bad.get("rows", ()):
        values[row] = INF
    return values


@pytest.mark.parametrize(
    ("value", "rows", "columns", "samples"),
    [
        (table(columns=[1, 2]), (0, 1, 2, 3, 4, 5), 2, 0),
        (table(rows=[3]), (3,), 0, 1),
        (table(rows=[1, 4], columns=[0]), (0, 1, 2, 3, 4, 5), 1, 2),
        (table(rows=range(6)), (0, 1, 2, 3, 4, 5), 4, 0),  # nothing is left that tells rows from columns
        (table(rows=[0])[:3], (0,), 0, 0),  # too few rows
        (table(), (), 0, 0),
        (table(rows=[2]).reshape(6, 2, 2), (2,), 0, 1),
        (torch.tensor([1.0, NAN, 2.0, 3.0]), (1,), 0, 0),
    ],
)
def test_rows_and_columns_without_any_finite_value(value, rows, columns, samples):
    assert bad_parts(value) == {"rows": rows, "empty_columns": columns, "empty_rows": samples}


def test_a_single_number_has_no_rows():
    assert bad_parts(torch.tensor(NAN)) == {}


def test_a_tensor_without_numbers_has_a_shape_and_nothing_bad():
    empty = torch.empty(2, 3, device="meta")
    assert described(empty) == "2×3 float32"
    assert where_bad(empty) == ""
    assert bad_parts(empty) == {}
