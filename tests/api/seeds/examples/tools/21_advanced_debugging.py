config = DebugConfig(
    mode=DebugMode.FULL_DEBUG,
    level=DebugLevel.EXPERT,
    enable_anomaly_detection=True,
    enable_gradient_checking=True,
    enable_memory_profiling=True,
    enable_performance_profiling=True,
    log_gradients=True,
    log_activations=True,
    log_weights=True,
    save_debug_info=True
)
