"""A logger from whatever a configuration is."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from torchmagic import AsyncTrainingLogger, create_training_logger


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@dataclass
class Config:
    """What a training has: more than a logger needs."""

    model_name: str = "net"
    learning_rate: float = 0.1
    enable_autograd_debug: bool = True
    debug_output_dir: str = "outputs"
    mode: str = "full_debug"


def test_without_a_configuration_everything_is_as_usual():
    for config in (None, {}, ""):
        with create_training_logger(config) as logger:
            assert type(logger) is AsyncTrainingLogger
            assert logger.model_name == ""
            assert not logger.enable_autograd_debug


def test_a_text_is_the_name():
    with create_training_logger("microsoft/DialoGPT-medium") as logger:
        assert logger.model_name == "microsoft/DialoGPT-medium"


def test_a_mapping_is_the_arguments():
    with create_training_logger({"experiment_name": "net", "user_id": 3, "log_dir": "here"}) as logger:
        assert (logger.model_name, logger.user_id) == ("net", 3)
        assert logger.path.parent == Path("here").absolute()


@pytest.mark.parametrize("config", [Config(), SimpleNamespace(**vars(Config()))], ids=["dataclass", "namespace"])
def test_of_an_object_that_is_what_the_logger_knows_is_taken(config):
    with create_training_logger(config) as logger:
        assert logger.model_name == "net"
        assert logger.enable_autograd_debug
        assert logger.path.parent == Path("outputs").absolute()


def test_a_name_that_is_unknown_is_one_line_with_the_nearest():
    with pytest.raises(ValueError, match=r"a training logger has no 'model_nam'; .*did you mean 'model_name'\?"):
        create_training_logger({"model_nam": "net"})
