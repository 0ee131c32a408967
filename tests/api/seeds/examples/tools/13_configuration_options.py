@dataclass
class DebugConfig:
    mode: DebugMode = DebugMode.NONE
    level: DebugLevel = DebugLevel.BASIC
    enable_anomaly_detection: bool = False
    enable_gradient_checking: bool = False
    enable_memory_profiling: bool = False
    enable_performance_profiling: bool = False
    anomaly_detection_mode: str = "warn"  # "warn" or "raise"
    gradient_checking_frequency: int = 100
    memory_profiling_frequency: int = 50
    performance_profiling_frequency: int = 10
    save_debug_info: bool = True
    debug_output_dir: str = "debug_outputs"
    log_gradients: bool = False
    log_activations: bool = False
    log_weights: bool = False
    log_memory: bool = True
    log_performance: bool = True
