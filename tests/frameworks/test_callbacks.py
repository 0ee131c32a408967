"""The callbacks for Lightning and for Hugging Face's Trainer: thin doors to a watched run."""

import copy
import pickle
import subprocess
import sys
import warnings

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import torchmagic
from torchmagic.probes.taps import OPEN
from torchmagic.records.model import ModelRecord, OptimizerRecord

pytestmark = pytest.mark.wild
SETTINGS = {"save": False}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libraries warn of each other
        yield


@pytest.fixture
def lightning():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("lightning.pytorch")


@pytest.fixture
def transformers():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("transformers")


def fit(lightning, *callbacks, fails=False):
    """Fit a small model by Lightning and return its weights."""

    class Regression(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 1)

        def training_step(self, batch, index):
            if fails and index == 3:
                raise ArithmeticError("no more")
            return nn.functional.mse_loss(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    torch.manual_seed(0)
    x = torch.randn(64, 4)
    trainer = lightning.Trainer(
        max_epochs=2,
        callbacks=list(callbacks),
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    model = Regression()
    trainer.fit(model, DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True))
    return list(model.parameters())


def train(transformers, *callbacks, fails=False, later=False):
    """Train a small model by Hugging Face's Trainer and return its weights."""

    class Regression(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 1)
            self.calls = 0

        def forward(self, x, y):
            self.calls += 1
            if fails and self.calls == 4:
                raise ArithmeticError("no more")
            out = self.net(x)
            return {"loss": nn.functional.mse_loss(out, y), "logits": out}

    torch.manual_seed(0)
    rows = [{"x": x, "y": x.sum(0, keepdim=True)} for x in torch.randn(64, 4)]
    settings = {"report_to": [], "use_cpu": True, "disable_tqdm": True, "save_strategy": "no"}
    arguments = transformers.TrainingArguments(
        "out", num_train_epochs=2, per_device_train_batch_size=8, label_names=["y"], logging_steps=50, **settings
    )
    model = Regression()
    given = None if later else list(callbacks)
    trainer = transformers.Trainer(model, arguments, train_dataset=rows, callbacks=given)
    for each in callbacks if later else ():
        trainer.add_callback(each)
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    return list(model.parameters())


def test_a_fit_is_one_run_with_its_report_and_the_bits_of_a_bare_one(lightning, same_bits, tmp_path):
    callback = torchmagic.LightningCallback(name="fit", report=str(tmp_path / "run.html"), **SETTINGS)
    assert isinstance(callback, lightning.Callback)
    assert callback.run is None
    assert same_bits(fit(lightning, callback), fit(lightning))
    run = callback.run
    assert (run.status, run.steps, run.name) == ("ok", 16, "fit")
    assert not OPEN
    assert "16 steps" in (tmp_path / "run.html").read_text(encoding="utf-8")
    (optimizer,) = run.of(OptimizerRecord)
    assert optimizer.parameters == ("net.weight", "net.bias")


def test_each_fit_is_a_run_of_its_own(lightning):
    callback = torchmagic.LightningCallback(**SETTINGS)
    fit(lightning, callback)
    first = callback.run
    fit(lightning, callback)
    assert callback.run is not first
    assert torchmagic.session.last is callback.run


def test_an_exception_in_a_fit_ends_its_run_and_is_the_users(lightning, tmp_path):
    callback = torchmagic.LightningCallback(report=str(tmp_path / "run.html"), **SETTINGS)
    with pytest.raises(ArithmeticError, match="no more"):
        fit(lightning, callback, fails=True)
    assert (callback.run.status, callback.run.steps) == ("error", 3)
    assert not OPEN
    assert "ArithmeticError" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_does_not_hide_what_ended_the_fit(lightning, tmp_path):
    callback = torchmagic.LightningCallback(report=str(tmp_path / "nowhere" / "run.html"), **SETTINGS)
    with pytest.warns(match="the report was not written"), pytest.raises(ArithmeticError):
        fit(lightning, callback, fails=True)


def test_a_training_is_one_run_with_its_report_and_the_bits_of_a_bare_one(transformers, same_bits, tmp_path):
    callback = torchmagic.TransformersCallback(name="train", report=str(tmp_path / "run.html"), **SETTINGS)
    assert isinstance(callback, transformers.TrainerCallback)
    assert same_bits(train(transformers, callback), train(transformers))
    run = callback.run
    assert (run.status, run.steps, run.name) == ("ok", 16, "train")
    assert not OPEN
    assert "16 steps" in (tmp_path / "run.html").read_text(encoding="utf-8")
    assert [each.name for each in run.of(ModelRecord)] == ["Regression"]


def test_an_exception_in_a_training_ends_its_run_and_is_the_users(transformers):
    callback = torchmagic.TransformersCallback(**SETTINGS)
    with pytest.raises(ArithmeticError, match="no more"):
        train(transformers, callback, fails=True)
    assert (callback.run.status, callback.run.steps) == ("error", 3)
    assert not OPEN


def test_the_run_of_a_callback_that_was_added_later_ends_with_the_next_training(transformers):
    callback = torchmagic.TransformersCallback(**SETTINGS)
    with pytest.raises(ArithmeticError):
        train(transformers, callback, fails=True, later=True)
    left = callback.run
    train(transformers, callback, later=True)
    assert (left.status, left.steps) == ("interrupted", 3)
    assert (callback.run.status, callback.run.steps) == ("ok", 16)
    assert not OPEN


@pytest.mark.parametrize("name", ["LightningCallback", "TransformersCallback"])
def test_a_copy_of_a_callback_watches_trainings_of_its_own(lightning, transformers, name):
    callback = getattr(torchmagic, name)(level="basic", **SETTINGS)
    for again in (copy.deepcopy(callback), pickle.loads(pickle.dumps(callback))):  # noqa: S301 - our own bytes
        assert type(again) is type(callback)
        assert again._fit is not callback._fit
        assert again._fit.settings == {"level": "basic", "save": False}


@pytest.mark.parametrize("name", ["LightningCallback", "TransformersCallback"])
def test_a_wrong_setting_is_said_where_it_is_written(lightning, transformers, name):
    with pytest.raises(ValueError, match="levle"):
        getattr(torchmagic, name)(levle="basic")


LAZY = """
import sys
import torchmagic
torchmagic.LightningCallback, torchmagic.TransformersCallback
assert not {"lightning", "pytorch_lightning", "transformers"} & set(sys.modules)
sys.modules.update({"lightning": None, "pytorch_lightning": None})
try:
    torchmagic.LightningCallback()
except ImportError as error:
    print(error)
"""


def test_who_only_names_the_callbacks_loads_no_framework_and_who_lacks_one_is_told():
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "this callback needs the package lightning: pip install lightning\n", done.stderr
