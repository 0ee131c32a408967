"""A diffusion debugger counts what real pipelines are made of, and tells latents that break from those that do not."""

import gc
import json
import math
import weakref
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from torchmagic.api.debugging.diffusion_debugger import DiffusionModelDebugger
from torchmagic.api.debugging.modes import DebugLevel

# Some schedulers of diffusers do arithmetic of NumPy on tensors.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")


@pytest.fixture(scope="module")
def diffusers():
    return pytest.importorskip("diffusers", reason="diffusers is not installed: pip install torchmagic[wild]")


@pytest.fixture(scope="module")
def unet(diffusers):
    torch.manual_seed(0)
    return diffusers.UNet2DModel(
        sample_size=8,
        in_channels=3,
        out_channels=3,
        block_out_channels=(8, 16),
        layers_per_block=1,
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    ).eval()


@pytest.fixture
def ddpm(diffusers, unet):
    pipeline = diffusers.DDPMPipeline(unet=unet, scheduler=diffusers.DDPMScheduler())
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


@pytest.fixture(scope="module")
def stable_parts(diffusers):
    """The models of a pipeline like Stable Diffusion, tiny and random."""
    torch.manual_seed(0)
    conditioned = diffusers.UNet2DConditionModel(
        sample_size=8,
        in_channels=4,
        out_channels=4,
        block_out_channels=(8, 16),
        layers_per_block=1,
        norm_num_groups=4,
        cross_attention_dim=12,
        attention_head_dim=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    )
    autoencoder = diffusers.AutoencoderKL(
        in_channels=3,
        out_channels=3,
        block_out_channels=(8,),
        latent_channels=4,
        norm_num_groups=4,
        down_block_types=("DownEncoderBlock2D",),
        up_block_types=("UpDecoderBlock2D",),
    )
    return {"unet": conditioned.eval(), "vae": autoencoder.eval(), "text_encoder": nn.Embedding(20, 12)}


def num_parameters(*models):
    return sum({id(each): each.numel() for model in models for each in model.parameters()}.values())


def test_a_ddpm_pipeline_is_told_by_its_components(ddpm):
    found = DiffusionModelDebugger().analyze_diffusion_pipeline(ddpm)
    assert found["pipeline"] == "DDPMPipeline"
    assert found["total_parameters"] == num_parameters(ddpm.unet)
    component = found["components"]["unet"]
    assert component["class"] == "UNet2DModel"
    assert component["parameters"] == num_parameters(ddpm.unet)
    assert component["dtypes"] == {"float32": num_parameters(ddpm.unet)}
    assert component["mode"] == "evaluation"
    assert (component["nonfinite"], found["anomalies"]) == ({}, [])
    assert found["scheduler"]["class"] == "DDPMScheduler"
    assert found["scheduler"]["num_train_timesteps"] == 1000
    assert found["total_memory"] == pytest.approx(num_parameters(ddpm.unet) * 4 / 2**20)
    json.dumps(found)


def test_a_pipeline_of_several_models_is_added_up(diffusers, stable_parts):
    class Pipeline(diffusers.DiffusionPipeline):
        def __init__(self, unet, vae, text_encoder, scheduler):
            super().__init__()
            self.register_modules(unet=unet, vae=vae, text_encoder=text_encoder, scheduler=scheduler)

    pipeline = Pipeline(**stable_parts, scheduler=diffusers.DDIMScheduler())
    found = DiffusionModelDebugger().analyze_diffusion_pipeline(pipeline)
    assert set(found["components"]) == set(stable_parts)
    assert found["total_parameters"] == num_parameters(*stable_parts.values())
    assert found["scheduler"]["class"] == "DDIMScheduler"
    assert found["components"]["text_encoder"]["mode"] == "training"


def test_components_that_share_weights_are_counted_once():
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    second.weight = first.weight
    pipeline = SimpleNamespace(unet=first, teacher=second, ema=first, scheduler=None)
    found = DiffusionModelDebugger().analyze_diffusion_pipeline(pipeline)
    assert found["total_parameters"] == 16 + 4 + 4
    assert found["components"]["teacher"]["shared_with"] == ["unet"]
    assert found["components"]["teacher"]["parameters"] == 20
    assert found["components"]["ema"]["shared_with"] == ["unet"]
    assert found["components"]["unet"]["shared_with"] == []


def test_what_is_frozen_half_precise_or_broken_is_told():
    frozen = nn.Linear(2, 2).requires_grad_(requires_grad=False)
    half, broken = nn.Linear(3, 3).half(), nn.Linear(2, 2)
    with torch.no_grad():
        broken.weight[0, 0] = math.nan
    found = DiffusionModelDebugger().analyze_diffusion_pipeline({"vae": frozen, "unet": half, "text": broken})
    assert (found["trainable_parameters"], found["total_parameters"]) == (12 + 6, 6 + 12 + 6)
    assert found["components"]["unet"]["dtypes"] == {"float16": 12}
    assert found["components"]["text"]["nonfinite"] == {"weight": "1 of 4 values are NaN or infinite"}
    assert found["anomalies"] == ["text.weight: 1 of 4 values are NaN or infinite"]


def test_a_single_model_is_a_pipeline_of_one():
    found = DiffusionModelDebugger().analyze_diffusion_pipeline(nn.Conv2d(1, 1, 1))
    assert list(found["components"]) == ["Conv2d"]
    assert found["total_parameters"] == 2


@pytest.mark.parametrize("value", [None, object(), {"unet": 3}, torch.ones(2)])
def test_what_holds_no_model_is_refused_in_one_line(value):
    with pytest.raises(TypeError, match="a model was wanted") as raised:
        DiffusionModelDebugger().analyze_diffusion_pipeline(value)
    assert "\n" not in str(raised.value)


SCHEDULERS = [
    *("DDPMScheduler", "DDIMScheduler", "PNDMScheduler", "DPMSolverMultistepScheduler", "UniPCMultistepScheduler"),
    *("EulerDiscreteScheduler", "EulerAncestralDiscreteScheduler", "HeunDiscreteScheduler", "LMSDiscreteScheduler"),
    *("FlowMatchEulerDiscreteScheduler", "EDMEulerScheduler"),
]


def denoised(scheduler, debugger, *, num_steps=12, by_timestep=False, spoil=None):
    """Denoise with a denoiser that knows the image: grey, with a spread of a half; look before and after each step."""
    generator = torch.Generator().manual_seed(0)
    image = 0.5 * torch.randn(1, 3, 16, 16, generator=generator)
    scheduler.set_timesteps(num_steps)
    pipeline = SimpleNamespace(unet=nn.Linear(1, 1), scheduler=scheduler)
    sigma = float(getattr(scheduler, "init_noise_sigma", 1.0))
    latents = sigma * torch.randn(image.shape, generator=generator)
    for index, timestep in enumerate(scheduler.timesteps):
        step = timestep if by_timestep else index
        scheduler.scale_model_input(latents, timestep) if hasattr(scheduler, "scale_model_input") else None
        noise = known_noise(scheduler, latents, image, timestep, index)
        latents = scheduler.step(noise, timestep, latents, return_dict=False)[0]
        if spoil is not None:
            latents = spoil(index, latents)
        debugger.monitor_diffusion_step(pipeline, step, latents)
    return latents


def known_noise(scheduler, latents, image, timestep, index):
    """What a denoiser that has learnt the image would predict."""
    if type(scheduler).__name__.startswith("FlowMatch"):
        sigma = float(scheduler.sigmas[index])
        return (latents - image) / max(sigma, 1e-6)
    if hasattr(scheduler, "alphas_cumprod") and float(scheduler.init_noise_sigma) == 1:
        kept = float(scheduler.alphas_cumprod[int(timestep)])
        return (latents - math.sqrt(kept) * image) / math.sqrt(1 - kept)
    sigma = float(scheduler.sigmas[index])
    if type(scheduler).__name__.startswith("EDM"):
        return scheduler.precondition_inputs(image, sigma) * 0 + edm_output(scheduler, latents, image, sigma)
    return (latents - image) / sigma


def edm_output(scheduler, latents, image, sigma):
    data = scheduler.config.sigma_data
    skip = data**2 / (sigma**2 + data**2)
    return (image - skip * latents) / (sigma * data / (sigma**2 + data**2) ** 0.5)


@pytest.mark.parametrize("by_timestep", [False, True])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_sound_denoising_has_no_anomaly(diffusers, name, by_timestep):
    debugger = DiffusionModelDebugger("advanced")
    latents = denoised(getattr(diffusers, name)(), debugger, by_timestep=by_timestep)
    assert [line for entry in debugger.debug_history for line in entry["anomalies"]] == []
    assert 0.3 < latents.std() < 0.8, "the denoiser of this test knows the image"
    assert all(entry["expected_std"] is not None for entry in debugger.debug_history)
    assert debugger.get_debug_summary()["anomaly_rate"] == 0


@pytest.mark.parametrize("name", ["DDPMScheduler", "DDIMScheduler", "EulerDiscreteScheduler"])
def test_latents_that_blow_up_are_told(diffusers, name):
    debugger = DiffusionModelDebugger()
    denoised(getattr(diffusers, name)(), debugger, spoil=lambda index, x: 100 * x if index == 8 else x)
    first = next(entry for entry in debugger.debug_history if entry["is_anomaly"])
    assert first["step"] == 8
    assert first["anomalies"][0].startswith("latents blow up: standard deviation ")


def test_latents_that_collapse_while_there_should_be_noise_are_told(diffusers):
    debugger = DiffusionModelDebugger()
    denoised(diffusers.DDPMScheduler(), debugger, spoil=lambda index, x: 0.01 * x if index == 3 else x)
    first = next(entry for entry in debugger.debug_history if entry["is_anomaly"])
    assert (first["step"], first["timestep"]) == (3, 664)
    assert first["anomalies"][0].startswith("latents collapse: ")


def test_a_pipeline_run_by_diffusers_can_be_followed_by_its_callback(diffusers, ddpm):
    debugger = DiffusionModelDebugger("extreme")
    generator = torch.Generator().manual_seed(0)
    latents = torch.randn(1, 3, 8, 8, generator=generator)
    ddpm.scheduler.set_timesteps(5)
    with torch.no_grad():
        for timestep in ddpm.scheduler.timesteps:
            noise = ddpm.unet(latents, timestep).sample
            latents = ddpm.scheduler.step(noise, timestep, latents, generator=generator).prev_sample
            info = debugger.monitor_diffusion_step(ddpm, timestep, latents)
    assert info["timestep"] == 0
    assert info["anomalies"] == []
    assert debugger.debug_history[0]["latents"].shape == (1, 3, 8, 8)


def test_statistics_are_those_of_numpy():
    latents = torch.randn(2, 4, 8, 8, generator=torch.Generator().manual_seed(3))
    info = DiffusionModelDebugger().monitor_diffusion_step({}, 0, latents)
    values = latents.double().numpy()
    assert info["mean"] == pytest.approx(values.mean())
    assert info["std"] == pytest.approx(values.std(ddof=1))
    assert (info["min"], info["max"]) == (values.min(), values.max())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64])
def test_latents_of_any_dtype_are_looked_at(dtype):
    latents = torch.randn(1, 2, 4, 4, dtype=torch.float64).to(dtype)
    info = DiffusionModelDebugger().monitor_diffusion_step({}, 0, latents)
    assert info["anomalies"] == []
    values = latents.abs() if dtype.is_complex else latents
    assert info["std"] == pytest.approx(values.double().numpy().std(ddof=1))


@pytest.mark.parametrize(("value", "word"), [(math.nan, "1 NaN"), (-math.inf, "1 infinite")])
def test_latents_that_are_not_finite_are_told(value, word):
    debugger = DiffusionModelDebugger()
    latents = torch.randn(1, 4, 4, 4)
    latents[0, 0, 0, 0] = value
    info = debugger.monitor_diffusion_step(SimpleNamespace(), 0, latents)
    assert info["anomalies"] == [f"latents are not finite: {word} of 64 values"]
    assert (info["has_nan"], info["has_inf"]) == (math.isnan(value), math.isinf(value))
    assert debugger.get_debug_summary()["total_anomalies"] == 1


def test_latents_that_are_all_alike_are_told():
    info = DiffusionModelDebugger().monitor_diffusion_step({}, 0, torch.full((1, 4, 4, 4), 0.5))
    assert info["anomalies"] == ["latents are all 0.5"]


def test_without_a_scheduler_only_what_no_schedule_does_counts():
    debugger = DiffusionModelDebugger()
    noise = torch.randn(1, 4, 8, 8)
    for step, size in enumerate([14.0, 9.0, 5.0, 2.0, 1.0, 0.4]):
        assert not debugger.monitor_diffusion_step({}, step, size * noise)["is_anomaly"]
    info = debugger.monitor_diffusion_step({}, 6, 1e4 * noise)
    assert info["anomalies"][0].startswith("latents blow up")


def test_a_second_pass_begins_anew():
    debugger = DiffusionModelDebugger()
    noise = torch.randn(1, 4, 8, 8)
    for size in (1e-4, 1.0):
        for step in range(5):
            assert not debugger.monitor_diffusion_step({}, step, size * noise)["is_anomaly"]


def test_what_a_denoiser_returns_will_do(stable_parts):
    debugger = DiffusionModelDebugger()
    with torch.no_grad():
        output = stable_parts["unet"](torch.randn(1, 4, 8, 8), 10, torch.randn(1, 3, 12))
    assert debugger.monitor_diffusion_step(stable_parts, 0, output)["shape"] == (1, 4, 8, 8)
    assert debugger.monitor_diffusion_step(stable_parts, 1, (output.sample,))["shape"] == (1, 4, 8, 8)


@pytest.mark.parametrize(("step", "latents"), [("1", torch.ones(2)), (True, torch.ones(2)), (0, None), (0, "x")])
def test_what_is_no_step_or_no_tensor_is_refused_in_one_line(step, latents):
    with pytest.raises(TypeError, match=r"was wanted|a step is a number") as raised:
        DiffusionModelDebugger().monitor_diffusion_step({}, step, latents)
    assert "\n" not in str(raised.value)


def test_summary_history_and_clearing():
    debugger = DiffusionModelDebugger("advanced", max_history=3)
    for step in range(5):
        debugger.monitor_diffusion_step({}, step, torch.full((2, 2), math.nan) if step == 1 else torch.randn(2, 2))
    summary = debugger.get_debug_summary()
    assert (summary["total_steps"], summary["total_anomalies"], summary["debug_history_length"]) == (5, 1, 3)
    assert summary["anomaly_rate"] == 0.2
    assert summary["level"] == "advanced"
    json.dumps(summary)
    debugger.clear_debug_history()
    assert debugger.get_debug_summary()["total_anomalies"] == 0
    assert debugger.debug_history == []


def test_levels_tell_as_much_as_they_promise():
    found = {
        level: set(DiffusionModelDebugger(level).monitor_diffusion_step({}, 0, torch.randn(3))) for level in DebugLevel
    }
    assert found[DebugLevel.ADVANCED] - found[DebugLevel.BASIC] == {"memory", "gpu_memory", "memory_trend"}
    assert found[DebugLevel.EXTREME] - found[DebugLevel.ADVANCED] == {"latents"}


def test_nothing_is_changed_or_held(stable_parts):
    debugger = DiffusionModelDebugger("extreme")
    pipeline = SimpleNamespace(unet=nn.Sequential(nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)), scheduler=None)
    latents = torch.randn(1, 4, 8, 8)
    bits, state = latents.clone(), torch.get_rng_state()
    buffers = [each.clone() for each in pipeline.unet.buffers()]
    debugger.analyze_diffusion_pipeline(pipeline)
    debugger.monitor_diffusion_step(pipeline, 0, latents)
    assert torch.equal(latents, bits)
    assert latents._version == 0
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(one, other) for one, other in zip(pipeline.unet.buffers(), buffers, strict=True))
    assert pipeline.unet.training
    gone = [weakref.ref(latents), weakref.ref(pipeline.unet)]
    del pipeline, latents
    gc.collect()
    assert [each() for each in gone] == [None, None]
