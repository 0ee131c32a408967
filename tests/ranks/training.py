"""This file is what the processes of a launch run: one short training after the other, healthy ones and sick ones.

Each is a watched run of its own, so that runs of the same place in this list belong together. It prints one line of
JSON with what only the process itself can tell.
"""

import json
import sys
import time
from types import FunctionType

import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import torchmagic

distributed.init_process_group("gloo")
RANK, SIZE = distributed.get_rank(), distributed.get_world_size()
SAID = {}
X = torch.randn(96, 20, generator=torch.Generator().manual_seed(1))
DATA = TensorDataset(X, (X.sum(1) > 0).long())


def network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(20, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))


def loader_of(*, sampled=True, shuffle=True, rows=None, batch_size=8):
    data = DATA if rows is None else TensorDataset(*(each[:rows] for each in DATA.tensors))
    sampler = DistributedSampler(data, shuffle=shuffle) if sampled else None
    return DataLoader(data, batch_size=batch_size, sampler=sampler)


def train(model, loader, *, passes=1, told=True, before=None, forward=None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses, step = [], 0
    for number in range(passes):
        if told and isinstance(loader.sampler, DistributedSampler):
            loader.sampler.set_epoch(number)
        for x, y in loader:
            if before is not None:
                before(step)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy((forward or model)(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            step += 1
    return losses, [each.detach().clone() for each in model.state_dict().values()], torch.get_rng_state()


def healthy():
    return train(DistributedDataParallel(network()), loader_of(), passes=2)


def identity():
    bare = healthy()
    with torchmagic.watch(name="healthy", save=True) as run:
        watched = healthy()
    SAID["same"] = bare[0] == watched[0] and all(map(torch.equal, bare[1], watched[1]))
    SAID["same stream"] = torch.equal(bare[2], watched[2])
    SAID["ranks of healthy"] = None if run.ranks is None else sorted(run.ranks.runs)
    SAID["failures"] = [str(each) for each in run.records if type(each).__name__ == "FailureRecord"]


def same_data():
    train(DistributedDataParallel(network()), loader_of(sampled=False))


def no_set_epoch():
    train(DistributedDataParallel(network()), loader_of(), passes=3, told=False)


def no_sync_misuse():
    model = DistributedDataParallel(network())
    with model.no_sync():
        train(model, loader_of())


def bypassed():
    model = DistributedDataParallel(network())
    train(model, loader_of(), forward=model.module)


def no_wrapper():
    train(network(seed=RANK), loader_of())


def uneven():
    model = DistributedDataParallel(network())
    with model.join():
        train(model, loader_of(sampled=False, rows=96 if RANK == 0 else 64))


def one_nonfinite():
    data = DATA.tensors[0].clone()
    if RANK == SIZE - 1:
        data[5] = float("nan")
    loader = DataLoader(TensorDataset(data, DATA.tensors[1]), batch_size=8)
    train(DistributedDataParallel(network()), loader)


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(20, 2), nn.Linear(20, 2)

    def forward(self, x):
        return self.used(x)


def unused():
    torch.manual_seed(0)
    train(DistributedDataParallel(Branches()), loader_of())


def straggling():
    def before(step):
        if RANK == 1:
            time.sleep(0.03)

    train(DistributedDataParallel(network()), loader_of(), passes=3, before=before)


def sharded():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 2))
    for layer in (model[0], model[2]):
        fully_shard(layer)
    fully_shard(model)
    train(model, loader_of(), passes=2)


def by_hand():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in loader_of():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        work = [distributed.all_reduce(each.grad, async_op=True) for each in model.parameters()]
        for each in work:
            each.wait()
        optimizer.step()
    found = [None] * SIZE
    distributed.all_gather_object(found, RANK)


# Each rank measures other things at other steps: whatever it does by itself must not make another one wait for it.
DIFFERENT = {"level": "expert", "every": 1} if RANK == 0 else {"level": "basic", "every": 50}

SCENES = [
    (same_data, {}),
    (no_set_epoch, {}),
    (no_sync_misuse, {}),
    (bypassed, {}),
    (no_wrapper, {}),
    (uneven, {}),
    (one_nonfinite, {}),
    (unused, {}),
    (straggling, {}),
    (sharded, DIFFERENT),
    (by_hand, {}),
]


def play(scene, settings):
    try:
        with torchmagic.watch(name=scene.__name__, **settings):
            scene()
    except RuntimeError as error:
        SAID[f"error of {scene.__name__}"] = str(error)[:80]
    distributed.barrier()


def main(names):
    if "healthy" in names:
        identity()
    for scene, settings in SCENES:
        if scene.__name__ in names:
            play(scene, settings)
    if "gathered" in names:
        with torchmagic.watch(name="gathered", save=False) as run:
            train(DistributedDataParallel(network()), loader_of())
        SAID["before"] = run.ranks is None
        ranks = torchmagic.gather(run).ranks
        SAID["gathered"] = None if ranks is None else {rank: each.steps for rank, each in ranks.runs.items()}
    SAID["left"] = [
        name
        for owner in (distributed, distributed.distributed_c10d)
        for name, value in vars(owner).items()
        if type(value) is FunctionType and "torchmagic" in value.__code__.co_filename
    ]
    sys.stdout.write("SAID " + json.dumps(SAID) + "\n")
    distributed.destroy_process_group()


main(set(sys.argv[1:]) or {"healthy", "gathered", *(scene.__name__ for scene, _ in SCENES)})
