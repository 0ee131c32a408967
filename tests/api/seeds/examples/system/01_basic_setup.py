# Create debugger with full debugging capabilities
error_system = ErrorHandlingDebuggingSystem()
training_logger = create_training_logger(config)
debugger = PyTorchDebugger(
    error_system=error_system,
    training_logger=training_logger,
    debug_mode=DebugMode.FULL_DEBUG
)
