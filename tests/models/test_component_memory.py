"""The memory of a model adds up: by what it is for, by component and by device, each byte once."""

import pytest
import torch
from torch import nn

from torchmagic.models.component_memory import ITSELF, MB, profile_memory_usage


def num_bytes(*tensors):
    return sum(each.numel() * each.element_size() for each in tensors) / MB


def test_parts_are_what_torch_counts():
    model = nn.Sequential(nn.Linear(256, 256), nn.BatchNorm1d(256))
    model(torch.randn(4, 256)).sum().backward()
    usage = profile_memory_usage(model)
    weights = num_bytes(*model.parameters())
    assert usage["parameters"] == weights
    assert usage["gradients"] == weights
    assert usage["buffers"] == num_bytes(*model.buffers())
    assert usage["total"] == pytest.approx(2 * weights + num_bytes(*model.buffers()))
    assert usage["0"] == pytest.approx(2 * num_bytes(*model[0].parameters()))
    assert usage["devices"] == {"cpu": usage["total"]}


def test_the_parts_of_every_model_add_up_to_its_total(kept):
    model, _ = kept
    usage = profile_memory_usage(model)
    assert sum(usage["components"].values()) == pytest.approx(usage["total"])
    assert sum(usage[kind] for kind in ("parameters", "gradients", "buffers")) == pytest.approx(usage["total"])
    assert sum(usage["devices"].values()) == pytest.approx(usage["total"])


def test_tied_weights_and_shared_modules_count_once():
    model = nn.ModuleDict({"first": nn.Linear(64, 64), "again": nn.Linear(64, 64)})
    model["again"].weight = model["first"].weight
    model["whole"] = model["first"]
    usage = profile_memory_usage(model)
    assert usage["total"] == num_bytes(*model.parameters())
    assert usage["again"] == num_bytes(model["again"].bias)
    assert "whole" not in usage["components"]


def test_two_parameters_over_the_same_bytes_take_them_once():
    model = nn.ModuleList([nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False)])
    model[1].weight = nn.Parameter(model[0].weight.data)
    assert profile_memory_usage(model)["total"] == num_bytes(model[0].weight)


def test_what_the_model_itself_holds_has_a_place():
    model = nn.Linear(64, 64)
    assert profile_memory_usage(model)["components"] == {ITSELF: num_bytes(*model.parameters())}


def test_a_child_named_like_a_part_does_not_hide_it():
    models = {"total": nn.Linear(8, 8), "parameters": nn.Linear(4, 4)}
    usage = profile_memory_usage(models)
    every = [each for model in models.values() for each in model.parameters()]
    assert (usage["total"], usage["parameters"]) == (num_bytes(*every),) * 2
    assert usage["components"]["total"] == num_bytes(*models["total"].parameters())


def test_an_expanded_buffer_takes_what_it_stores_and_meta_nothing():
    model = nn.Module()
    model.register_buffer("wide", torch.ones(1).expand(1000))
    model.register_buffer("nowhere", torch.empty(1000, device="meta"))
    assert profile_memory_usage(model)["total"] == 4 / MB


def test_a_sparse_gradient_takes_what_it_stores():
    table = nn.Embedding(1000, 16, sparse=True)
    table(torch.tensor([1, 5])).sum().backward()
    assert profile_memory_usage(table)["gradients"] == (2 * 16 * 4 + 2 * 8) / MB


def test_a_pipeline_is_told_by_its_models():
    shared = nn.Linear(16, 16)
    usage = profile_memory_usage({"unet": shared, "vae": nn.Sequential(shared, nn.Linear(8, 8)), "scheduler": object()})
    assert usage["components"] == {"unet": num_bytes(*shared.parameters()), "vae": (8 * 8 + 8) * 4 / MB}
