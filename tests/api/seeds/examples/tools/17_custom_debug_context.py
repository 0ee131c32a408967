# Custom debugging with context manager
with debug_manager.debugger.debug_context("custom_operation", "my_model") as debug_info:
    # Your custom operation here
    result = model(input_data)

    # Debug info is automatically collected
    print(f"Operation completed in {debug_info.execution_time:.4f}s")
    print(f"Memory usage: {debug_info.memory_usage:.2f} MB")
