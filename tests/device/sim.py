"""This file gives torch the device of ``device.cpp``, under the name sim; it goes with the process."""

import types

import torch


def give_torch(library):
    """Have torch know the device.

    Args:
        library: Path of the shared library.
    """
    torch.utils.rename_privateuse1_backend("sim")
    torch.ops.load_library(library)
    known = torch.ops.sim
    module = types.ModuleType("torch.sim")
    module.is_available = module.is_initialized = lambda: True
    module._is_in_bad_fork = lambda: False
    module.device_count, module.current_device = lambda: 1, lambda: 0
    module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16]
    module.get_rng_state = lambda *_: known.random_state()
    module.set_rng_state = lambda state, *_: known.set_random_state(state)
    module.manual_seed_all = lambda seed: known.set_random_state(torch.Generator().manual_seed(seed).get_state())
    module.manual_seed = module.manual_seed_all
    module.memory_allocated = lambda *_: known.allocated()
    module.synchronize = lambda *_: None
    torch._register_device_module("sim", module)
    torch.utils.generate_methods_for_privateuse1_backend()


def counted(deed):
    """Do something, and return what came of it, and how often the host waited for a value of the device meanwhile."""
    torch.ops.sim.forget_counts()
    result = deed()
    return result, torch.ops.sim.count("to host")
