"""Indices outside of a table are told with their value and the table's length."""

from torchmagic.records.crash import CrashKind, CrashSiteRecord
from torchmagic.records.place import Place
from torchmagic.rules.loss.index_out_of_range import index_out_of_range
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=4, source="return self.words(tokens)")


def finding(value, limit, **facts):
    run = Run()
    run.records.append(
        CrashSiteRecord(
            problem=CrashKind.INDEX, error="IndexError", message="index out of range in self", place=LINE, value=value,
            limit=limit, num_bad=1, num_values=6, **facts,
        )
    )  # fmt: skip
    (found,) = index_out_of_range(run)
    return found


def embedding(value, limit):
    return finding(
        value, limit, module="net.words", class_name="Embedding", is_torchs=True, settings={"embedding_dim": "8"}
    )


def test_an_embedding_that_is_too_short_names_path_value_and_length():
    found = embedding(12, 10)
    assert found.title == "net.words (Embedding) got index 12 and has 10 rows: 0 to 9"
    assert (found.module, found.line) == ("net.words", 4)
    assert found.fix == "self.words = nn.Embedding(13, 8)  # or more rows"


def test_a_negative_index_wants_a_row_for_padding():
    assert "padding_idx=0" in embedding(-1, 10).fix


def test_a_table_without_a_module_is_told_by_its_expression():
    assert finding(16, 16, expression="table[i]").title == "table[i] got index 16 and has 16 rows: 0 to 15"


def test_an_index_that_cannot_be_read_is_told_without_its_value():
    assert finding(None, None, expression="x[i]").title == "x[i] got an index that is out of range"
