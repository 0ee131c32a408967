@dataclass
class SEOConfig:
    # ... existing configuration ...

    # PyTorch debugging and development tools
    enable_autograd_anomaly: bool = False
    enable_autograd_profiler: bool = False
    enable_tensorboard_profiler: bool = False
    debug_memory_usage: bool = False
    debug_gradient_norms: bool = False
    debug_forward_pass: bool = False
    debug_backward_pass: bool = False
    debug_device_placement: bool = False
    debug_mixed_precision: bool = False
    debug_data_loading: bool = False
    debug_validation: bool = False
    debug_early_stopping: bool = False
    debug_lr_scheduling: bool = False
