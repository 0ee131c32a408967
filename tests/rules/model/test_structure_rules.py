"""This file tests the rules on how layers are put together, on records written by hand."""

import pytest

from torchmagic.records.crash import CrashKind, CrashSiteRecord
from torchmagic.records.data import BatchRecord, Source
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord, ParameterRecord
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.records.structure import DirectFollowRecord, MixedRowsRecord, SingleSampleRecord
from torchmagic.rules.model.batch_mixing import batch_mixing
from torchmagic.rules.model.batchnorm_batch_one import batchnorm_batch_one
from torchmagic.rules.model.missing_activation import missing_activation
from torchmagic.session.run import Run

MESSAGE = "Expected more than 1 value per channel when training, got input size torch.Size([1, 16])"


def run_of(*records, source=""):
    run = Run(source=source)
    run.steps = 8
    run.records += records
    return run


def pair(**facts):
    told = {
        "first": "net.0",
        "second": "net.1",
        "first_class": "Linear",
        "second_class": "Linear",
        "num_in": 8,
        "num_middle": 32,
        "num_out": 16,
        "is_plain": True,
        "num_seen": 3,
        "num_forwards": 3,
    }
    return DirectFollowRecord(**{**told, **facts})


def test_the_second_of_two_affine_modules_is_named():
    (finding,) = missing_activation(run_of(pair()))
    assert (finding.severity, finding.module) == (Severity.WARNING, "net.1")


@pytest.mark.parametrize(("middle", "found"), [(7, 0), (8, 1), (16, 1)])
def test_a_middle_narrower_than_both_ends_is_a_bottleneck(middle, found):
    assert len(list(missing_activation(run_of(pair(num_middle=middle))))) == found


@pytest.mark.parametrize("facts", [{"is_plain": False}, {"num_seen": 1}, {"of_library": True}])
def test_factors_of_a_layer_and_a_single_forward_and_what_a_library_joins_are_silent(facts):
    assert not list(missing_activation(run_of(pair(**facts))))


def test_several_pairs_of_a_model_are_one_finding_that_names_the_first():
    (finding,) = missing_activation(run_of(pair(), pair(first="net.1", second="net.2")))
    assert finding.module == "net.1"
    assert finding.evidence["other such pairs"] == "net.1 and net.2"


def test_of_a_hundred_pairs_a_few_are_named_and_the_rest_is_counted():
    (finding,) = missing_activation(run_of(*(pair(first=f"net.{i}", second=f"net.{i + 1}") for i in range(100))))
    assert finding.evidence["other such pairs"].endswith("net.4 and net.5 and 95 more")


def norms(single, total):
    return SingleSampleRecord(module="net.1", class_name="BatchNorm2d", num_forwards=total, num_single=single)


@pytest.mark.parametrize(("single", "total", "found"), [(8, 8, 1), (5, 8, 1), (4, 8, 0), (1, 8, 0), (2, 2, 0)])
def test_batches_of_one_count_when_they_are_more_than_half(single, total, found):
    assert len(list(batchnorm_batch_one(run_of(norms(single, total))))) == found


def test_the_loader_that_gives_single_samples_is_the_place():
    source = "valid = DataLoader(b)\ntrain = DataLoader(a, batch_size=1)\n"
    loaders = [
        LoaderRecord(name=name, batch_size=size, num_workers=0, sampler="RandomSampler", num_batches=9, num_samples=9)
        for name, size in (("valid", 8), ("train", 1))
    ]
    (finding,) = batchnorm_batch_one(run_of(norms(8, 8), *loaders[1:], source=source))
    assert (finding.line, finding.module) == (2, "net.1")


def test_the_exception_is_explained_with_its_module():
    crash = CrashRecord(error="ValueError", message=MESSAGE, file="<cell>", line=4, source="net(x)")
    site = CrashSiteRecord(problem=CrashKind.SINGLE, error="ValueError", message=MESSAGE, module="net.1")
    (finding,) = batchnorm_batch_one(run_of(crash, site))
    assert (finding.severity, finding.module, finding.line) == (Severity.ERROR, "net.1", 4)
    assert "[1, 16]" in finding.title


def test_another_exception_is_not():
    crash = CrashRecord(error="ValueError", message="too many values", file="<cell>", line=4, source="net(x)")
    assert not list(batchnorm_batch_one(run_of(crash)))


def mixed(change):
    place = Place(file="<cell>", line=3, source="x = x.reshape(t, n, f)")
    return MixedRowsRecord(model="net", module="net", step=1, num_rows=5, num_changed=4, change=change, place=place)


@pytest.mark.parametrize(("change", "found"), [(0.5, 1), (1e-3, 1), (9e-4, 0)])
def test_rows_that_change_with_another_are_mixed(change, found):
    findings = list(batch_mixing(run_of(mixed(change))))
    assert [(finding.severity, finding.line) for finding in findings] == [(Severity.WARNING, 3)] * found


def weight(name, model, *, shape=(4, 4)):
    return ParameterRecord(
        name=f"{name}.weight", model=model, module=name, shape=shape, dtype="float32", device="cpu", trainable=True
    )


def test_the_end_of_a_network_of_its_own_gives_features():
    own = weight("encoder.0", "encoder"), weight("encoder.2", "encoder"), weight("head", "head")
    across = pair(first="encoder.2", second="head")
    assert not list(missing_activation(run_of(across, *own)))
    assert len(list(missing_activation(run_of(pair(first="encoder.0", second="encoder.2"), *own)))) == 1


def test_a_network_of_one_matrix_is_a_layer():
    across = pair(first="first", second="second")
    layers = weight("first", "first"), weight("second", "second"), weight("other", "other")
    assert len(list(missing_activation(run_of(across, *layers)))) == 1
    vector = weight("first.norm", "first", shape=(4,))
    assert len(list(missing_activation(run_of(across, *layers, vector)))) == 1


def test_two_networks_whose_layers_are_no_records_are_told():
    assert len(list(missing_activation(run_of(pair(first="a", second="b"), weight("b", "b"))))) == 1


def test_each_model_has_a_finding_of_its_own():
    findings = missing_activation(run_of(pair(), pair(first="other.0", second="other.1")))
    assert [(each.module, each.evidence["other such pairs"]) for each in findings] == [
        ("net.1", "none"),
        ("other.1", "none"),
    ]


CRASH = CrashRecord(error="ValueError", message=MESSAGE, file="<cell>", line=4, source="net(x)")
LOADERS = "valid = DataLoader(b)\ntrain = DataLoader(a, batch_size=8)\n"


def loader(name, size=8, samples=16, *, drop_last=False, place=None):
    return LoaderRecord(
        name=name, batch_size=size, num_workers=0, sampler="S", num_batches=2, num_samples=samples,
        drop_last=drop_last, place=place,
    )  # fmt: skip


def single(name):
    return BatchRecord(
        source=Source.LOADER, name=name, field="0", step=0, shape=(1, 4), dtype="float32", layout="contiguous",
        device="cpu", low=0.0, high=1.0, mean=0.5, std=0.1,
    )  # fmt: skip


@pytest.mark.parametrize(
    "records",
    [
        (loader("valid"), loader("train", samples=17)),
        (loader("valid"), loader("train", size=1)),
        (loader("valid"), loader("train"), single("train")),
        (loader("valid", samples=17, drop_last=True), loader("train", samples=17)),
        (loader("valid", samples=None), loader("train", samples=17)),
        (loader("valid", size=None), loader("train", samples=17)),
    ],
    ids=["one is left", "batches of one", "one was seen", "the rest is dropped", "no length", "no size"],
)
def test_the_exception_is_placed_at_the_loader_whose_batches_are_too_small(records):
    (finding,) = batchnorm_batch_one(run_of(CRASH, *records, source=LOADERS))
    assert finding.line == 2


def test_a_loader_that_no_line_of_the_cell_builds_is_told_where_it_is_walked():
    walked = Place(file="<cell>", line=9, source="for x, y in train:")
    assert next(batchnorm_batch_one(run_of(CRASH, loader("train", place=walked)))).line == 9
    (finding,) = batchnorm_batch_one(run_of(CRASH, loader("train")))
    assert (finding.line, finding.evidence["loader"]) == (4, "16 samples in batches of 8")
    assert next(batchnorm_batch_one(run_of(CRASH, source=LOADERS))).line == 4


def test_a_crash_of_another_kind_does_not_name_the_module():
    site = CrashSiteRecord(problem=CrashKind.SHAPE, error="ValueError", message=MESSAGE, module="net.7")
    assert next(batchnorm_batch_one(run_of(CRASH, site))).module is None
