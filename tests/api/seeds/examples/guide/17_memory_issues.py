# Problem: Out of memory errors
memory_profile = debugger.profile_memory_usage(model)
total_memory = memory_profile["total"]

if total_memory > available_memory:
    # Solutions:
    # 1. Reduce batch size
    # 2. Use gradient checkpointing
    # 3. Move to CPU if possible
    # 4. Use mixed precision training
