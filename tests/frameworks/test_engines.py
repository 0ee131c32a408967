"""Libraries with a loop of their own, watched with nothing to configure: Ignite, skorch, fastai."""

import pytest

pytestmark = pytest.mark.wild
SOFTMAX = "softmax-before-cross-entropy"


@pytest.fixture(scope="module")
def ignited(watched):
    pytest.importorskip("ignite")
    return watched("ignite_trainer")


@pytest.fixture(scope="module")
def estimated(watched):
    pytest.importorskip("skorch")
    return watched("skorch_fit")


@pytest.fixture(scope="module")
def learned(watched):
    pytest.importorskip("fastai", reason="fastai brings a server and a tokenizer, and is tested apart")
    return watched("fastai_learner")


PROGRAMS = [("ignited", "ignite_trainer"), ("estimated", "skorch_fit"), ("learned", "fastai_learner")]


@pytest.mark.parametrize(("fixture", "program"), PROGRAMS)
def test_a_training_gets_no_alarm_and_keeps_its_bits(request, fixture, program, alone, same_bits):
    seen = request.getfixturevalue(fixture)
    assert seen.alarms == []
    assert same_bits(seen.names["result"], alone(program))


def test_ignites_curves_and_names_are_the_programs(ignited):
    assert ignited.run.steps == 44
    steps, losses = ignited.run.series("loss", name="loss")
    assert steps == [batch // 2 for batch in range(88)]
    assert losses == pytest.approx(ignited.names["losses"], rel=1e-6)
    assert (ignited.models, ignited.optimizers) == (["model"], ["optimizer"])
    assert ignited.loaders == ["train_loader", "val_loader"]
    assert ignited.rates("optimizer")[::11] == pytest.approx([1e-2, 8e-3, 6.4e-3, 5.12e-3])


def test_ignites_validation_is_validation(ignited):
    (name,) = ignited.run.subjects("eval_loss")
    assert ignited.run.series("eval_loss", name=name) == (
        [11, 22, 33, 44],
        pytest.approx(ignited.names["validation"], rel=1e-5),
    )


def test_skorchs_curves_and_names_are_the_programs(estimated):
    assert estimated.run.steps == 72
    assert estimated.run.series("loss", name="loss")[1] == pytest.approx(estimated.names["losses"], rel=1e-6)
    assert (estimated.models, estimated.optimizers) == (["net.module_"], ["net.optimizer_"])
    assert estimated.rates("net.optimizer_")[::24] == pytest.approx([0.01, 0.005, 0.0025])


def test_skorchs_validation_is_validation(estimated):
    (name,) = estimated.run.subjects("eval_loss")
    steps, values = estimated.run.series("eval_loss", name=name)
    assert steps == [12, 24, 36, 48, 60, 72]
    assert values == pytest.approx(estimated.names["validation"], rel=1e-5)


def test_fastais_curves_and_names_are_the_programs(learned):
    assert learned.run.steps == 88
    assert (learned.models, learned.loaders) == (["model"], ["train_loader", "val_loader"])
    (name,) = learned.run.subjects("eval_loss")
    assert learned.run.series("eval_loss", name=name)[1] == pytest.approx(learned.names["validation"], rel=2e-2)


SQUASHED = {"nn.Linear(48, 3))": "nn.Linear(48, 3), nn.Softmax(1))"}
OWN = {"    opt_func=partial(OptimWrapper, opt=torch.optim.Adam),\n": ""}


@pytest.mark.parametrize("fault", [{}, SQUASHED], ids=["sound", "sick"])
def test_steps_of_fastais_own_optimizers_are_seen(watched, fault):
    pytest.importorskip("fastai")
    seen = watched("fastai_learner", OWN | fault)
    assert (seen.run.steps, seen.optimizers) == (88, [])
    assert len(seen.run.series("loss", name="loss")[1]) == 88
    assert seen.run.subjects("grad_norm") == ("model.0.weight", "model.0.bias", "model.2.weight", "model.2.bias")
    assert {rule for rule, *_ in seen.alarms} == ({SOFTMAX} if fault else set())


@pytest.mark.parametrize(
    ("library", "program", "planted", "rule"),
    [
        ("ignite", "ignite_trainer", SQUASHED, SOFTMAX),
        ("skorch", "skorch_fit", {"return self.layers(x)": "return self.layers(x).softmax(1)"}, SOFTMAX),
        ("fastai", "fastai_learner", SQUASHED, SOFTMAX),
    ],
)
def test_a_mistake_is_found(watched, library, program, planted, rule):
    pytest.importorskip(library)
    assert rule in watched(program, planted).rules
