# Real-time memory profiling
memory_info = debugger.profile_memory("training_batch")

print(f"CPU memory usage: {memory_info['cpu_memory']}%")
print(f"GPU memory usage: {memory_info['gpu_memory']}MB")
print(f"Memory leaks: {memory_info['memory_leaks']}")
