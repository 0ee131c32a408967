config = DebugConfig(
    mode=DebugMode.MEMORY_PROFILING,
    level=DebugLevel.INTERMEDIATE,
    enable_memory_profiling=True,
    enable_performance_profiling=True,
    log_memory=True,
    log_performance=True,
    save_debug_info=False  # Disable in production
)
