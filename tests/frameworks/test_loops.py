"""Libraries around a loop of one's own, watched with nothing to configure: accelerate, diffusers, PyTorch Geometric."""

import pytest

pytestmark = pytest.mark.wild


@pytest.fixture(scope="module")
def accelerated(watched):
    pytest.importorskip("accelerate")
    return watched("accelerate_loop")


@pytest.fixture(scope="module")
def diffused(watched):
    pytest.importorskip("diffusers")
    return watched("diffusers_unconditional")


@pytest.fixture(scope="module")
def nodes(watched):
    pytest.importorskip("torch_geometric")
    return watched("geometric_nodes")


@pytest.fixture(scope="module")
def graphs(watched):
    pytest.importorskip("torch_geometric")
    return watched("geometric_graphs")


LIBRARIES = {"accelerate": "accelerate", "diffusers": "diffusers", "geometric": "torch_geometric"}
PROGRAMS = [
    ("accelerated", "accelerate_loop"),
    ("diffused", "diffusers_unconditional"),
    ("nodes", "geometric_nodes"),
    ("graphs", "geometric_graphs"),
]


@pytest.mark.parametrize(("fixture", "program"), PROGRAMS)
def test_a_training_gets_no_alarm_and_keeps_its_bits(request, fixture, program, alone, same_bits):
    seen = request.getfixturevalue(fixture)
    assert seen.alarms == []
    assert same_bits(seen.names["result"], alone(program))


def test_accumulate_makes_one_step_of_four_batches_whose_losses_are_whole(accelerated):
    assert accelerated.run.steps == 30  # five epochs of 21 batches, the last of which stands alone
    steps, losses = accelerated.run.series("loss", name="loss")
    assert steps == [epoch * 6 + batch // 4 for epoch in range(5) for batch in range(21)]
    assert losses == pytest.approx(accelerated.names["losses"], rel=1e-6)


def test_what_accelerate_has_prepared_keeps_its_names(accelerated):
    assert (accelerated.models, accelerated.optimizers) == (["model"], ["optimizer"])
    assert accelerated.loaders == ["train_loader", "val_loader"]
    assert accelerated.run.series("eval_loss", name="cross_entropy(val_loader)") == (
        [6, 12, 18, 24, 30],
        pytest.approx(accelerated.names["validation"]),
    )


def test_diffusers_losses_rates_and_names_are_the_programs(diffused):
    assert diffused.curve("loss", "loss") == [
        (step, pytest.approx(value)) for step, value in enumerate(diffused.names["losses"])
    ]
    assert (diffused.models, diffused.optimizers, diffused.loaders) == (["unet"], ["optimizer"], ["loader"])
    assert diffused.rates("optimizer")[:6] == pytest.approx([0, 2e-4, 4e-4, 6e-4, 8e-4, 1e-3])
    assert diffused.run.steps == 32


@pytest.mark.parametrize("fixture", ["nodes", "graphs"])
def test_geometric_losses_are_the_programs(request, fixture):
    seen = request.getfixturevalue(fixture)
    assert seen.curve("loss", "loss") == list(enumerate(seen.names["losses"]))
    (name,) = seen.run.subjects("eval_loss")
    assert seen.run.series("eval_loss", name=name)[1] == pytest.approx(seen.names["validation"])
    assert (seen.models, seen.optimizers) == (["model"], ["optimizer"])


def test_geometric_loaders_and_layers_keep_their_names(graphs):
    assert graphs.loaders == ["train_loader", "val_loader"]
    assert graphs.run.subjects("eval_loss") == ("cross_entropy(val_loader)",)
    assert "model.conv.nn.0.weight" in graphs.run.subjects("grad_norm")


@pytest.mark.parametrize(
    ("program", "right", "wrong"),
    [
        (
            "accelerate_loop",
            "loss = nn.functional.cross_entropy(model(inputs), labels)",
            "loss = nn.functional.cross_entropy(model(inputs).softmax(1), labels)",
        ),
        ("diffusers_unconditional", "            optimizer.zero_grad()", "            pass"),
        (
            "geometric_nodes",
            "loss = F.cross_entropy(out[data.train_mask]",
            "loss = F.nll_loss(out[data.train_mask]",
        ),
        ("geometric_graphs", "        optimizer.zero_grad()", "        pass"),
    ],
    ids=["softmax-before-cross-entropy", "missing-zero-grad", "not-log-probabilities", "missing-zero-grad-too"],
)
def test_a_mistake_is_found(request, watched, program, right, wrong):
    pytest.importorskip(LIBRARIES[program.partition("_")[0]])
    assert request.node.callspec.id.removesuffix("-too") in watched(program, {right: wrong}).rules
