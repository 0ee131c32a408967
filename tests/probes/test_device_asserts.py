"""This file tests what is told of a device that stops at an assertion: the label or index, and the line that gave it.

No device stops here: tensors without values stand for those on it, and the error is raised as torch words it.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes import device_asserts
from torchmagic.probes.criteria import Criteria
from torchmagic.probes.timing import Timing
from torchmagic.records.crash import CrashSiteRecord
from torchmagic.records.note import FailureRecord, NoteRecord
from torchmagic.tensors import accelerators

STOPPED = "CUDA error: device-side assert triggered\nCUDA kernel errors might be reported at another call."
DEVICE = torch.device("meta")
BAD = 2  # the step in which the device stops


@pytest.fixture(autouse=True)
def device_at_hand(monkeypatch):
    monkeypatch.setattr(accelerators, "are_possible", lambda: True)


class Reader:
    """Reads from the device at each backward, and learns then that it has stopped."""

    def __init__(self):
        self.calls = self.raised = 0

    def attach(self, taps, _recorder):
        taps.on("backward_begin", self.look)

    def flush(self, _step):
        if self.raised:
            raise RuntimeError(STOPPED)

    def detach(self):
        self.flush(0)

    def look(self, *_):
        self.calls += 1
        if self.calls > BAD:
            self.raised += 1
            raise RuntimeError(STOPPED)


def sick(train, **names):
    """Watch a training until it raises; return the run and the error."""
    reader = Reader()
    watch = Watch(Settings(save=False), beside=(reader,), namespace=names)
    with pytest.raises(RuntimeError) as caught, watch as run:
        train()
    assert not run.of(FailureRecord)
    assert reader.raised <= 1
    return run, caught.value


def classifier(labels, *, logits=lambda target: torch.zeros(len(target), 3, device=DEVICE), until=BAD, **options):
    """Return a training on batches whose labels are moved to the device, where a loss of classes takes them."""
    net = nn.Linear(4, 3)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(torch.randn(len(labels), 4), labels), batch_size=8)

    def train():
        for step, (x, y) in enumerate(loader):
            opt.zero_grad()
            target = y.to(DEVICE)
            out = logits(target)
            functional.cross_entropy(out, target, **options)
            net(x).square().mean().backward()
            if step == until:
                raise RuntimeError(STOPPED)
            opt.step()

    return train


def test_what_comes_after_the_device_was_lost_is_not_heard():
    labels = torch.arange(40) % 3
    labels[20] = 7
    run, _ = sick(classifier(labels, until=BAD + 2))
    (finding,) = run.findings
    assert finding.title == "target holds label 7; with 3 classes they go from 0 to 2"
    assert run.steps == BAD


def test_what_is_noticed_as_the_step_is_closed_counts_for_that_step(monkeypatch):
    flush = Timing.flush

    def notices(timing, step):
        if step == BAD:
            raise RuntimeError(STOPPED)
        flush(timing, step)

    monkeypatch.setattr(Timing, "flush", notices)
    labels = torch.arange(40) % 3
    labels[20] = 7
    train = classifier(labels, until=BAD + 1)
    with pytest.raises(RuntimeError), Watch(Settings(save=False)) as run:
        train()
    assert run.findings[0].title == "target holds label 7; with 3 classes they go from 0 to 2"


def test_a_label_that_is_no_class_is_named_with_its_line():
    labels = torch.arange(40) % 3
    labels[20] = 7
    run, error = sick(classifier(labels))
    (finding,) = run.findings
    assert finding.rule == "label-out-of-range"
    assert finding.title == "target holds label 7; with 3 classes they go from 0 to 2"
    assert finding.source == "functional.cross_entropy(out, target, **options)"
    assert finding.evidence["labels out of range"] == "1 of 8"
    assert finding.evidence["noticed at"].endswith("raise RuntimeError(STOPPED)")
    assert finding.evidence["out"] == "(8, 3) float32 meta"
    assert finding.step == BAD
    assert error.__notes__[0].startswith("torchmagic: target holds label 7")


def test_a_label_is_named_where_another_probe_learns_of_it_from_the_loss_itself(monkeypatch):
    labels = torch.arange(40) % 3
    labels[20] = 7
    calls = []

    def reads(criteria, *_):
        calls.append(criteria)
        if len(calls) > BAD:
            raise RuntimeError(STOPPED)

    monkeypatch.setattr(Criteria, "_loss", reads)
    with pytest.raises(RuntimeError), Watch(Settings(save=False)) as run:
        classifier(labels)()
    assert len(calls) == BAD + 1
    (finding,) = run.findings
    assert finding.title == "target holds label 7; with 3 classes they go from 0 to 2"


def test_one_note_says_that_the_device_is_lost():
    run, _ = sick(classifier(torch.full((40,), 5)))
    (note,) = run.of(NoteRecord)
    assert note.text.startswith("At step 2 a device was lost (CUDA error: device-side assert triggered).")
    assert run.steps == BAD


def test_labels_of_steps_before_do_not_count():
    labels = torch.arange(40) % 3
    labels[0] = 9  # the device did not stop at it
    run, _ = sick(classifier(labels))
    (finding,) = run.findings
    assert finding.title == "target holds a label that is no class; with 3 classes they go from 0 to 2"
    assert finding.confidence < 0.9


@pytest.mark.parametrize(("options", "named"), [({}, "holds a label that"), ({"ignore_index": 255}, "label 4")])
def test_what_the_loss_ignores_is_a_label(options, named):
    labels = torch.arange(40) % 3
    labels[17] = 255 if options else -100
    labels[18] = 4 if options else 1
    run, _ = sick(classifier(labels, **options))
    assert named in run.findings[0].title


class Tagger(nn.Module):
    """A table of words, whose weight is on the device, beside a layer that can be computed here."""

    def __init__(self, tables=1):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(10, 4, device=DEVICE) for _ in range(tables))
        self.out = nn.Linear(4, 2)

    def forward(self, words):
        self.tables[0](words.to(DEVICE))
        return self.out(torch.ones(len(words), 4))


def tagger(words, *, tables=1, loss=False):
    net = Tagger(tables)
    opt = torch.optim.SGD(net.out.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(words, torch.zeros(len(words))), batch_size=8)

    def train():
        for step, (ids, _) in enumerate(loader):
            opt.zero_grad()
            out = net(ids)
            if loss:
                functional.cross_entropy(out.to(DEVICE), torch.zeros(8, dtype=torch.long, device=DEVICE))
            out.square().mean().backward()
            if step == BAD:
                raise RuntimeError(STOPPED)
            opt.step()

    return net, train


@pytest.mark.parametrize("loss", [False, True])
def test_an_index_outside_of_a_table_is_named_with_the_table(loss):
    words = torch.arange(40) % 10
    words[17] = 12
    net, train = tagger(words, loss=loss)
    run, error = sick(train, net=net)
    (finding,) = run.findings
    assert finding.rule == "index-out-of-range"
    assert finding.module == "net.tables.0"
    assert finding.title == "net.tables.0 (Embedding) got index 12 and has 10 rows: 0 to 9"
    assert finding.source == "out = net(ids)"
    assert finding.fix == "self.tables[0] = nn.Embedding(13, 4)  # or more rows"
    assert error.__notes__[0].startswith("torchmagic: net.tables.0")


def test_without_the_numbers_the_only_table_is_named():
    net, train = tagger(torch.arange(40) % 10)
    run, _ = sick(train, net=net)
    (finding,) = run.findings
    assert finding.title == "net.tables.0 (Embedding) got an index that is out of range, and has 10 rows: 0 to 9"


@pytest.mark.parametrize(("tables", "loss"), [(2, False), (1, True)])
def test_where_several_may_have_done_it_none_is_named(tables, loss):
    net, train = tagger(torch.arange(40) % 10, tables=tables, loss=loss)
    run, error = sick(train, net=net)
    (finding,) = run.findings
    assert finding.title == "An index, or a label, is out of range on the device"
    assert finding.module is None
    assert "CUDA_LAUNCH_BLOCKING=1" in error.__notes__[0]


def test_a_host_that_waits_for_each_kernel_knows_the_line(monkeypatch):
    names = {"said": STOPPED}
    raises = compile("def raises(*_, **__):\n    raise RuntimeError(said)", torch.__file__, "exec")
    exec(raises, names)  # noqa: S102 - a line of torch's raises, none of the user's
    monkeypatch.setattr(torch._C._nn, "cross_entropy_loss", names["raises"])
    run, _ = sick(classifier(torch.zeros(40, dtype=torch.long)))
    (finding,) = run.findings
    assert finding.rule == "label-out-of-range"
    assert finding.source == "functional.cross_entropy(out, target, **options)"


@pytest.mark.parametrize(
    "said",
    [
        "CUDA error: an illegal memory access was encountered",
        "CUDA error: unspecified launch failure",
        "HIP error: illegal address",
    ],
)
def test_other_losses_of_a_device_are_noted_and_not_explained(said):
    class Lost(Reader):
        def look(self, *_):
            raise RuntimeError(said)

    net = nn.Linear(2, 1)
    with Watch(Settings(save=False), beside=(Lost(),)) as run:
        net(torch.ones(1, 2)).sum().backward()
    assert [note.text.partition(" From")[0] for note in run.of(NoteRecord)] == [
        f"At step 0 a device was lost ({said})."
    ]
    assert not run.of(CrashSiteRecord)
    assert not run.of(FailureRecord)


def test_a_probe_that_fails_otherwise_is_off_alone():
    class Broken(Reader):
        def look(self, *_):
            raise RuntimeError("CUDA error: out of range of something else")

    net = nn.Linear(2, 1)
    with (
        pytest.warns(RuntimeWarning, match="failed and is off"),
        Watch(Settings(save=False), beside=(Broken(),)) as run,
    ):
        net(torch.ones(1, 2)).sum().backward()
    assert len(run.of(FailureRecord)) == 1
    assert not run.of(NoteRecord)


def test_no_batch_is_kept_where_labels_stay_on_the_host(monkeypatch):
    kept = []
    monkeypatch.setattr(device_asserts, "tensors_in", lambda batch: kept.append(batch) or [])
    net = nn.Linear(4, 3)
    loader = DataLoader(TensorDataset(torch.randn(40, 4), torch.arange(40) % 3), batch_size=8)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with Watch(Settings(save=False)):
        for x, y in loader:
            opt.zero_grad()
            functional.cross_entropy(net(x), y).backward()
            opt.step()
    assert len(kept) == 1


def test_where_no_device_could_stop_nothing_is_listened_for(monkeypatch):
    monkeypatch.setattr(accelerators, "are_possible", lambda: False)
    heard = []
    monkeypatch.setattr(device_asserts.DeviceAsserts, "_loss", lambda *_: heard.append(1))
    with Watch(Settings(save=False)):
        classifier(torch.zeros(24, dtype=torch.int64), until=None)()
    assert not heard
