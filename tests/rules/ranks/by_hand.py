"""This file writes ranks by hand: what a healthy training on several ranks leaves behind, to be changed by a test."""

from dataclasses import replace

from torchmagic.records.data import BatchRecord, Source
from torchmagic.records.model import LoaderRecord, ModelRecord
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.records.rank_beats import BeatRecord
from torchmagic.records.ranks import (
    Checked,
    ChecksumRecord,
    LoaderPassRecord,
    RandomStateRecord,
    RankRecord,
    Wrapping,
    WrapRecord,
)
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run, Status

NAMES = ("0.weight", "0.bias", "2.weight")
STEPS = 20
LINE = Place(file="train.py", line=14, source="loss = F.mse_loss(model(x), y)")
LOADER = Place(file="train.py", line=9, source="loader = DataLoader(data, batch_size=8)")
# Seconds of the phases data, forward, backward, optimizer and other; the wait is a part of backward.
PHASES = {"data": 0.001, "forward": 0.003, "backward": 0.005, "optimizer": 0.001, "other": 0.0}
WAIT = 0.001


class Made:
    """Ranks in the making: ``rank(2)`` is one of them; ``run`` is rank 0 with all of them joined."""

    def __init__(self, num=4, *, steps=STEPS, wrapper=Wrapping.DDP, detail=True):
        self.num, self.steps = num, steps
        self.runs = {rank: self._rank(rank, wrapper, detail) for rank in range(num)}
        self.beats = {}

    @property
    def run(self):
        self.runs[0].join(Ranks(dict(self.runs), world_size=self.num, launch="made", beats=self.beats))
        return self.runs[0]

    def rank(self, rank):
        return self.runs[rank]

    def change(self, kind, *ranks, when=lambda _record: True, **changes):
        """Change fields of the records of one type, on these ranks, else on all."""
        for rank in ranks or range(self.num):
            records = self.runs[rank].records
            records[:] = [
                replace(each, **changes) if isinstance(each, kind) and when(each) else each for each in records
            ]
        return self

    def digests(self, what, *ranks, steps=None, names=NAMES):
        """Let checksums of these ranks differ from those of all others, of these tensors, at these steps."""
        for rank in ranks:
            records = self.runs[rank].records
            for i, record in enumerate(records):
                if isinstance(record, ChecksumRecord) and record.what is what and record.step in (steps or LOOKS):
                    own = {name: f"{rank:04x}" + each[4:] if name in names else each
                           for name, each in record.digests.items()}  # fmt: skip
                    records[i] = replace(record, digests=own, whole=f"{record.whole}-{rank}")
        return self

    def parted(self, *ranks, since=1):
        """Let weights of these ranks differ from a step on, as where their updates differ."""
        return self.digests(Checked.WEIGHT, *ranks, steps=[step for step in LOOKS if step >= since])

    def crash(self, rank, message, error="RuntimeError", *, line=14):
        self.runs[rank].records.append(
            CrashRecord(error=error, message=message, file="train.py", line=line, source=LINE.source)
        )
        self.runs[rank].status = Status.ERROR
        return self

    def beat(self, rank, event="backward", *, inside=True, step=7, seconds=40.0, **changes):
        facts = {
            "rank": rank, "host": "a", "pid": 100 + rank, "status": "running", "step": step, "event": event,
            "inside": inside, "seconds": seconds, "place": LINE, "wall": 0.0,
        }  # fmt: skip
        self.beats[rank] = BeatRecord(**facts | changes)
        return self.beats[rank]

    def series(self, metric, row_of, subjects=("",), *, ranks=None, steps=None):
        """Put in place of a metric, on these ranks, what ``row_of(rank, step)`` gives."""
        for rank in range(self.num) if ranks is None else ranks:
            run = self.runs[rank]
            run.frames[:] = [frame for frame in run.frames if frame.metric != metric]
            run.newest.pop(metric, None)
            for step in range(run.steps) if steps is None else steps:
                run.frame(metric, subjects).append(step, row_of(rank, step))
        return self

    def slow(self, rank, phase, seconds):
        """Let one rank take longer in a phase, so that the others wait for it in backward."""
        names = tuple(PHASES)

        def row(each, _step):
            own = dict(PHASES)
            own[phase if each == rank else "backward"] += seconds
            return tuple(own[name] for name in names)

        self.series("seconds", row, names)
        waited = lambda each, _step: (WAIT if each == rank else seconds + WAIT,)  # noqa: E731 - a row
        return self.series("sync_wait", waited, steps=range(1, self.steps + 1))

    def _rank(self, rank, wrapper, detail):
        run = Run(name=f"rank {rank}")
        run.steps, run.status = self.steps, Status.OK
        run.records += [*_who(rank, self.num, wrapper), *_checks(self.steps, detail=detail), *_passes(rank, self.num)]
        for step in range(self.steps):
            wobble = 1e-5 * ((7 * step + 3 * rank) % 5)
            run.frame("loss", ("loss",)).append(step, (2.0 / (1 + step) + 0.01 * rank,))
            run.frame("grad_norm", ("",)).append(step, (1.0 / (1 + step),))
            run.frame("seconds", tuple(PHASES)).append(step, tuple(each + wobble for each in PHASES.values()))
            run.frame("sync_wait", ("",)).append(step + 1, (WAIT + wobble,))
            run.frame("gradient_sync", ("reduced", "withheld", "bypassed")).append(step, (1, 0, 0))
            run.frame("comm_bytes", ("",)).append(step, (0,))
        return run


LOOKS = (0, 5, 10, 15, STEPS)


def _who(rank, num, wrapper):
    ddp = wrapper is Wrapping.DDP
    return [
        RankRecord(
            launch="made", sequence=0, rank=rank, world_size=num, local_rank=rank, num_local=num, host="a",
            pid=100 + rank, backend="gloo", device="cpu", launcher="torchrun", wall=0.0, monotonic=0.0,
        ),
        ModelRecord(name="model", class_name="Net", num_parameters=300, num_trainable=300, num_bytes=1200),
        WrapRecord(
            model="model", wrapper=wrapper, num_parameters=len(NAMES), ignored=(),
            find_unused_parameters=False if ddp else None, static_graph=False if ddp else None,
            broadcast_buffers=True if ddp else None, num_batch_norms=0, num_synced_batch_norms=0, num_shards=1,
            place=LINE,
        ),
        RandomStateRecord(moment="start", seed=rank, torch=f"{rank}", numpy="0", python="0"),
        LoaderRecord(
            name="loader", batch_size=8, num_workers=0, sampler="DistributedSampler", num_batches=10, shuffle=True,
            num_samples=80 * num, place=LOADER,
        ),
        BatchRecord(
            source=Source.MODEL, name="model", field="0", step=0, shape=(8, 4), dtype="float32", layout="contiguous",
            device="cpu", low=0.0, high=1.0, mean=0.5, std=0.1,
        ),
    ]  # fmt: skip


def _checks(steps, *, detail):
    for step in LOOKS:
        if step > steps:
            continue
        for what in (Checked.WEIGHT, Checked.GRADIENT):
            if what is Checked.GRADIENT and step == steps:
                continue
            digests = {name: f"{step:04x}{i:04x}" for i, name in enumerate(NAMES)} if detail else {}
            yield ChecksumRecord(
                step=step, model="model", what=what, whole=f"{what}{step}", digests=digests, last=step == steps
            )


def _passes(rank, num, *, passes=2, batches=10):
    for number in range(passes):
        yield LoaderPassRecord(
            loader="loader", number=number, step=batches * number, num_batches=batches, num_trained=batches,
            finished=True, batch_size=8, num_samples=80 * num, num_expected=batches, samplers=("DistributedSampler",),
            sharded=True, replicas=num, replica=rank, shuffle=True, epoch=number,
            indices=tuple(f"{number}.{rank}.{batch}" for batch in range(batches)),
            contents=tuple(f"v{number}.{rank}.{batch}" for batch in range(8)),
        )  # fmt: skip
