def detect_memory_leaks():
    """Detect memory leaks during training."""
    memory_snapshots = []

    for batch in range(100):
        # Take memory snapshot before operation
        memory_before = debugger.profile_memory(f"before_batch_{batch}")

        # Training operation
        train_batch()

        # Take memory snapshot after operation
        memory_after = debugger.profile_memory(f"after_batch_{batch}")

        # Check for memory increase
        memory_increase = memory_after["cpu_memory"] - memory_before["cpu_memory"]
        if memory_increase > 5:  # 5% increase
            logger.warning(f"Potential memory leak in batch {batch}")

        memory_snapshots.append(memory_after)

    return memory_snapshots
