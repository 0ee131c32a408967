"""This file tests the page of data."""

from torchmagic.records.data import ClassCountsRecord, Source
from torchmagic.records.model import LoaderRecord
from torchmagic.session.run import Run
from torchmagic.views.data import data_page
from torchmagic.views.page import Facts, Fold, Shares, Table


def loader(name="train", **facts):
    known = {"batch_size": 4, "num_workers": 0, "sampler": "RandomSampler", "num_batches": 8, "num_samples": 32}
    return LoaderRecord(name=name, **{**known, "shuffle": True, **facts})


def classes(counts, *, source=Source.LOADER, name="train"):
    return ClassCountsRecord(source=source, name=name, field="1", num_batches=8, num_few=0, counts=counts)


def made(*records):
    run = Run()
    run.records += records
    return run


def tables(run):
    return [block for block in data_page(run).blocks if isinstance(block, Table)]


def test_a_loader_is_told_with_the_settings_that_say_something():
    run = made(loader(), loader("val", shuffle=False, num_workers=2, prefetch_factor=4, drop_last=True))
    (shown,) = tables(run)
    assert shown.columns == (
        "loader", "samples", "batch size", "batches", "order", "workers", "ahead", "last batch",
    )  # fmt: skip
    assert shown.rows[1] == ["val", 32, 4, 8, "fixed", 2, 4, "dropped"]


def test_the_wait_for_batches_is_told_by_loader_and_as_a_share_of_the_time():
    run = made(loader())
    for step, wait in enumerate((0.001, 0.003)):
        run.frame("batch_wait", ("train",)).append(step, (wait,))
        run.frame("seconds", ("data", "other")).append(step, (0.25, 0.5))
    run.clock.seconds = 1.0
    (shown,) = tables(run)
    assert dict(zip(shown.columns, shown.rows[0], strict=True))["mean wait, ms"] == 2.0
    assert dict(zip(shown.columns, shown.rows[0], strict=True))["longest, ms"] == 3.0
    assert data_page(run).blocks[0].text == "train: 32 samples. 50% of the time went into waiting for batches."


def test_a_batch_is_told_as_it_was_first_seen_and_its_other_kinds_in_a_fold(make_batch):
    run = made(
        make_batch("train", high=2.0), make_batch("net", source=Source.MODEL), make_batch("train", step=9, high=255.0)
    )
    first = tables(run)[0]
    assert [row[0] for row in first.rows] == ["from train", "into net"]
    assert first.rows[0][5] == 2.0
    fold = data_page(run).blocks[-1]
    assert isinstance(fold, Fold)
    assert [row[-1] for row in fold.blocks[0].rows] == [0, 0, 9]


def test_layout_and_device_are_told_where_they_are_not_plain(make_batch):
    assert "lies" not in tables(made(make_batch("train")))[0].columns
    shown = tables(made(make_batch("train", device="cuda:0", layout="channels_last")))[0]
    assert shown.rows[0][-1] == "channels_last on cuda:0"


def test_a_bad_sample_is_told_first_with_its_index(full):
    shown = tables(full)[0]
    assert list(shown.rows[0]) == ["dataset[6]", "net", "net", 0, 1, 2, 1, 0, 1]
    assert "1 sample holds NaN or infinite values." in data_page(full).blocks[0].text


def test_few_classes_are_bars_and_many_their_extremes():
    run = made(classes({"0": 30, "1": 2}), classes({str(i): i + 1 for i in range(40)}, name="big"))
    fold = data_page(run).blocks[-1]
    shares, facts = fold.blocks
    assert isinstance(shares, Shares)
    assert shares.parts == [("0", 30.0), ("1", 2.0)]
    assert isinstance(facts, Facts)
    assert facts.rows == [
        ("classes from big", "40; most samples: 39 (40), 38 (39), 37 (38); fewest: 0 (1), 1 (2), 2 (3)")
    ]


def test_classes_that_loader_and_loss_saw_are_told_once():
    run = made(classes({"0": 3, "1": 3}), classes({"0": 3, "1": 3}, source=Source.LOSS, name="cross_entropy"))
    assert [block.title for block in data_page(run).blocks[-1].blocks] == ["classes from train"]


def test_an_order_that_repeats_is_told_only_of_a_loader_that_shuffles():
    run = made(loader(), loader("val", shuffle=False))
    for name in ("train", "val"):
        run.frame("order_repeated", (name,)).append(0, (1.0,))
    (facts,) = [block for block in data_page(run).blocks if isinstance(block, Facts)]
    assert [name for name, _ in facts.rows] == ["order of train"]


def test_a_run_without_batches_has_no_page():
    assert data_page(Run()).blocks == []


def test_without_a_loader_the_first_batch_is_the_sentence(make_batch):
    run = made(make_batch("net", source=Source.MODEL), make_batch("mse_loss", source=Source.LOSS))
    assert data_page(run).blocks[0].text == "into net: 4×8 float32, -1 to 2."
