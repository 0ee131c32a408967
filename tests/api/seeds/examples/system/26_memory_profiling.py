# Profile memory usage regularly
if batch_idx % 50 == 0:
    memory_info = debugger.profile_memory(f"batch_{batch_idx}")
    if memory_info["memory_leaks"]:
        logger.warning(f"Memory leaks: {memory_info['memory_leaks']}")
