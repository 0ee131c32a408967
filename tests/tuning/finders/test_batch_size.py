"""The batch size that is fastest, by a made-up clock, and the largest that fits, by real and made-up memory."""

import math
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from torchmagic import find_batch_size
from torchmagic.tuning.copies import Training
from torchmagic.tuning.finders.deadline import Deadline, TimeIsUpError
from torchmagic.tuning.finders.fastest_batch import fastest, powers_up_to
from torchmagic.tuning.finders.found import FITS, TOO_TIGHT, FoundRow
from torchmagic.tuning.finders.largest_batch import Fitting, Tried, largest
from torchmagic.tuning.finders.sample import resized, sample_of
from torchmagic.tuning.finders.sized_steps import SizedSteps

CPU = torch.device("cpu")


class Paced(nn.Module):
    """Lets a clock go on by a made-up time for its rows, and does next to nothing."""

    pace = staticmethod(lambda _: 0.0)

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        Paced.pace(len(x))
        return self.layer(x)


@pytest.fixture
def paced(clock, monkeypatch):
    """Return a function that finds the fastest size for a step of so many milliseconds by rows."""

    def find(milliseconds, *, most=None, sizes=None, limit=30.0, noise=0.0, seed=0):
        chance = random.Random(seed)  # noqa: S311 - no secret
        monkeypatch.setattr(
            Paced, "pace", lambda rows: clock.work(milliseconds(rows) / 1e3 * chance.lognormvariate(0, noise))
        )
        torch.manual_seed(0)
        model = Paced()
        training = Training(
            model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.01), criterion=nn.CrossEntropyLoss()
        )
        deadline = Deadline(limit, clock)
        batch = torch.randn(8, 4), torch.randint(0, 2, (8,))
        steps = SizedSteps(training, sample_of(batch, CPU, deadline, has_criterion=True), deadline)
        rows, chosen = fastest(steps, sizes or powers_up_to(most), deadline, is_given=sizes is not None)
        return rows, None if chosen is None else rows[chosen].setting["batch_size"]

    return find


def test_the_smallest_that_is_within_the_noise_of_the_fastest_is_taken(paced):
    # 10 ms and 1 ms a row, from 64 rows on 2 ms a row: what is gained by more rows is lost again.
    rows, size = paced(lambda rows: 10 + rows if rows < 64 else 2 * rows)
    assert size == 32
    assert [row.verdict for row in rows if row.setting["batch_size"] == 32] == ["fastest"]
    assert {row.verdict for row in rows if row.setting["batch_size"] != 32} == {"slower"}
    # overhead that is 4% of the step at 256 rows, 1% at the largest: beyond, nothing is won that counts
    rows, size = paced(lambda rows: 10 + rows, most=4096, limit=600.0)
    assert rows[-1].setting["batch_size"] == 1024
    assert size == 256


def test_a_gain_within_the_noise_does_not_win(paced):
    found = [paced(lambda rows: 40 * rows, most=2, noise=0.15, seed=seed, limit=60.0)[1] for seed in range(6)]
    assert found.count(1) >= 5


def test_the_ladder_ends_where_larger_ones_are_no_faster(paced):
    rows, _ = paced(lambda rows: 4 * max(rows, 8))
    assert [row.setting["batch_size"] for row in rows] == [1, 2, 4, 8, 16, 32]


def test_all_sizes_that_were_asked_for_are_timed(paced):
    rows, size = paced(lambda rows: 4 * max(rows, 8), sizes=[8, 16, 32, 64, 100])
    assert [row.setting["batch_size"] for row in rows] == [8, 16, 32, 64, 100]
    assert all(row.times for row in rows)
    assert size == 8


def test_what_would_take_too_long_is_a_row_with_its_reason(paced, clock):
    begin = clock.now
    rows, size = paced(lambda rows: 50 * rows + 100, limit=20.0)
    assert rows[-1].failure.startswith("a step would take about ")
    assert rows[-1].failure.endswith("too long for a time limit of 20 s")
    assert size == rows[-2].setting["batch_size"]
    assert clock.now - begin <= 20 + 1
    begin = clock.now
    rows, size = paced(lambda _: 9000, limit=20.0)
    assert size is None
    assert clock.now - begin <= 20 + 9


@pytest.mark.parametrize("limit", [0.05, 0.3, 2.0, 9.0])
def test_no_step_is_begun_after_the_limit(paced, clock, limit):
    begin = clock.now
    paced(lambda rows: 20 + rows, limit=limit)
    assert clock.now - begin <= limit + 0.02 + 0.05 * limit + 1.0 / 20


def limited(capacity):
    def try_one(size):
        fits = size <= capacity
        return Tried(size=size, fits=fits, is_full=not fits, row=FoundRow(setting={"batch_size": size}))

    return try_one


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 70_000))
def test_the_largest_that_fits_is_found_to_a_sixteenth_by_few_trials(capacity, most):
    tried = largest(limited(capacity), None, most)
    fit = max((each.size for each in tried if each.fits), default=0)
    true = min(capacity, most)
    assert fit <= true
    assert true - fit <= max(1, fit // 16)
    assert true < 32 or true - fit < true / 8
    assert all(1 <= each.size <= most for each in tried)
    assert len({each.size for each in tried}) == len(tried) <= math.log2(most) + 8


def test_three_failures_that_are_not_for_memory_end_the_search():
    def broken(size):
        return Tried(size=size, fits=False, is_full=False, row=FoundRow(setting={}, failure="no"))

    assert [each.size for each in largest(broken, None, 1000)] == [1, 2, 4]


def test_what_was_tried_before_the_time_was_over_is_kept():
    def slow(size):
        if size > 4:
            raise TimeIsUpError
        return limited(1000)(size)

    assert [each.size for each in largest(slow, None, 1000)] == [1, 2, 4]


class Hungry(nn.Module):
    """Asks for more memory than any machine has, beyond some rows."""

    def __init__(self, rows):
        super().__init__()
        self.layer, self.rows = nn.Linear(4, 2), rows

    def forward(self, x):
        torch.empty(10**16 if len(x) > self.rows else 1)
        return self.layer(x)


def trained(model):
    return model, torch.optim.Adam(model.parameters(), lr=0.01), nn.CrossEntropyLoss()


def pairs(rows=8):
    return torch.randn(rows, 4), torch.randint(0, 2, (rows,))


def test_memory_that_is_out_is_a_row_and_the_largest_that_fits_is_found(same_process):
    given = (*trained(Hungry(13)), pairs())
    with same_process():
        found = find_batch_size(*given, goal="largest")
    assert found.recommended == {"batch_size": 13}
    assert found.code == "DataLoader(..., batch_size=13)"
    failures = {row.setting["batch_size"]: row.failure for row in found.rows if row.failure}
    assert set(failures) == {14, 16}
    assert all("can't allocate memory" in each for each in failures.values())
    assert all(row.verdict == FITS and row.figures["headroom"] > 0.5 for row in found.rows if not row.failure)
    assert "batch_size=13 is the largest that fits: it leaves" in str(found)


class Wide(nn.Module):
    """Keeps several tensors as large as its input for the backward."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4096, 1)

    def forward(self, x):
        return self.layer((x * x).sigmoid().tanh())


def test_where_memory_is_out_the_ladder_ends(same_process):
    given = (*trained(Hungry(3)), pairs())
    with same_process():
        found = find_batch_size(*given, time_limit=6)
    assert [row.setting["batch_size"] for row in found.rows] == [1, 2, 4]
    assert "can't allocate memory" in found.rows[-1].failure


def test_headroom_is_left():
    model = Wide()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    training = Training(model=model, optimizer=optimizer, criterion=lambda out, _: out.sum())
    deadline, room = Deadline(60.0), 8 << 20
    sample = sample_of((torch.randn(4, 4096), torch.zeros(4)), CPU, deadline, has_criterion=True)
    steps = SizedSteps(training, sample, deadline)
    tried = largest(Fitting(steps, room=room, headroom=0.5, deadline=deadline, held=lambda: 0), None, 4096)
    sizes = {each.size: each.row for each in tried}
    assert all((row.figures["headroom"] >= 0.5) == (row.verdict == FITS) for row in sizes.values() if not row.failure)
    assert TOO_TIGHT in {row.verdict for row in sizes.values()}
    best = max(size for size, row in sizes.items() if row.verdict == FITS)
    peak = sizes[best].figures["peak_mib"] * (1 << 20)
    assert peak <= room / 2 < peak * 1.2


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 2))

    def forward(self, x):
        return self.layers(x)


class Rows(IterableDataset):
    """Gives rows, and counts its passes."""

    def __init__(self):
        self.passes, self.chance = 0, random.Random(3)  # noqa: S311 - no secret

    def __iter__(self):
        self.passes += 1
        for _ in range(40):
            yield torch.randn(4) + self.chance.random(), random.randrange(2)  # noqa: S311 - no secret


def of_kind(kind):
    dataset = TensorDataset(*pairs(40))
    match kind:
        case "batch":
            return pairs()
        case "dataset":
            return dataset
        case "loader":
            generator = torch.Generator().manual_seed(5)
            return DataLoader(dataset, batch_size=5, shuffle=True, generator=generator)
        case "iterable":
            return DataLoader(Rows(), batch_size=5)


@pytest.mark.parametrize("goal", ["fastest", "largest"])
@pytest.mark.parametrize("kind", ["batch", "dataset", "loader", "iterable"])
def test_nothing_of_the_users_is_changed(kind, goal, state_of, are_equal, same_process):
    torch.manual_seed(0)
    model, optimizer, criterion = trained(Normed())
    data = of_kind(kind)
    torch.manual_seed(7)
    model(torch.randn(8, 4)).sum().backward()
    optimizer.step()
    model.layers[2].eval()
    training = Training(model=model, optimizer=optimizer, criterion=criterion)
    before = state_of(training)
    stream = data.generator.get_state() if kind == "loader" else None
    with same_process():
        found = find_batch_size(model, optimizer, criterion, data, goal=goal, sizes=[1, 4, 32], time_limit=8)
    assert are_equal(state_of(training), before)
    assert all(row.times for row in found.rows[1:])
    assert "more than 1 value per channel" in found.rows[0].failure
    if stream is not None:
        assert torch.equal(data.generator.get_state(), stream)
    if kind == "iterable":
        assert data.dataset.passes == 0
        assert data.dataset.chance.random() == random.Random(3).random()  # noqa: S311 - no secret


def test_a_batch_is_no_larger_than_the_dataset():
    dataset = TensorDataset(*pairs(10))
    found = find_batch_size(*trained(nn.Linear(4, 2)), dataset, goal="largest", time_limit=20)
    assert found.recommended == {"batch_size": 10}
    assert "batch_size=10 fits, the largest that was tried" in str(found)
    assert any("An epoch of 10 samples is then 1 step." in note for note in found.notes)


def test_batches_of_other_sizes_are_the_first_rows_again():
    sample = sample_of((torch.arange(3.0), torch.tensor([5, 6, 7])), CPU, Deadline(9.0), has_criterion=True)
    for size in (1, 3, 7):
        batch = resized(sample, size)
        assert batch.args[0].tolist() == [float(i % 3) for i in range(size)]
        assert batch.target.tolist() == [5 + i % 3 for i in range(size)]


class Slow(TensorDataset):
    """Takes longer for its samples than anybody waits."""

    def __init__(self, clock):
        super().__init__(*pairs(64))
        self.clock = clock

    def __getitem__(self, index):
        self.clock.work(1.0)
        return super().__getitem__(index)


def test_reading_samples_ends_with_the_time(clock):
    begin = clock.now
    with pytest.raises(ValueError, match="reading the first batch took longer than the time limit of 3 s"):
        sample_of(Slow(clock), CPU, Deadline(3.0, clock), has_criterion=True)
    assert clock.now - begin <= 4.0


MODEL = nn.Linear(4, 2)
ADAM = torch.optim.Adam(MODEL.parameters())


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"model": 3}, TypeError, "a int came as the model; wanted a torch.nn.Module"),
        ({"optimizer": None}, TypeError, "a NoneType came as the optimizer; wanted one of torch.optim"),
        ({"data": "rows"}, TypeError, "a str came as data; wanted a DataLoader, a dataset, or one batch"),
        ({"data": (torch.zeros(3, 4), torch.zeros(4))}, ValueError, "differ in their first dimension"),
        ({"goal": "best"}, ValueError, "goal='best' came; wanted 'fastest' or 'largest'"),
        ({"sizes": []}, ValueError, "sizes=.. came; wanted batch sizes from 1 on"),
        ({"sizes": [4, 0]}, ValueError, "sizes=.4, 0. came; wanted batch sizes from 1 on"),
        ({"sizes": [2.5]}, ValueError, "sizes=.2.5. came; wanted batch sizes from 1 on"),
        ({"headroom": 1.0}, ValueError, "headroom=1.0 came; wanted a share of the memory"),
        ({"time_limit": 0}, ValueError, "time_limit=0 came; wanted seconds"),
        ({"optimizer": torch.optim.SGD([torch.zeros(1)])}, ValueError, "parameters that are in neither model nor"),
    ],
    ids=["model", "optimizer", "data", "rows", "goal", "none", "zero", "half", "headroom", "limit", "foreign"],
)
def test_bad_input_is_one_clear_line(changes, error, message):
    given = {"model": MODEL, "optimizer": ADAM, "criterion": nn.CrossEntropyLoss(), "data": pairs(), **changes}
    with pytest.raises(error, match=message) as raised:
        find_batch_size(**given)
    assert "\n" not in str(raised.value)


def test_where_every_size_fails_the_reason_is_told():
    found = find_batch_size(*trained(nn.Linear(5, 2)), pairs(), time_limit=5)
    assert found.recommended is None
    assert found.code == ""
    assert [row.setting["batch_size"] for row in found.rows] == [1, 2, 4]
    assert "No batch size could be timed: RuntimeError: mat1 and mat2 shapes" in str(found)


def test_it_is_told_as_text_and_as_html():
    found = find_batch_size(*trained(nn.Linear(4, 2)), pairs(), sizes=[2, 16], time_limit=8)
    text, html = str(found), found._repr_html_()
    assert repr(found) == text
    assert "batch size" in text
    assert "samples/s" in html
    assert found.rows[0].figures["peak_mib"] > 0
    assert found.rows[0].median > 0
    with pytest.raises(AttributeError):
        found.code = "x"
