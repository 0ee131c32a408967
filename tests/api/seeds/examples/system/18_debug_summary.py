# Get comprehensive debug summary
summary = debugger.get_debug_summary()

print("Debug Summary:")
print(f"  Total operations: {summary['total_operations']}")
print(f"  Average execution time: {summary['avg_execution_time']:.4f}s")
print(f"  Maximum execution time: {summary['max_execution_time']:.4f}s")
print(f"  Average memory usage: {summary['avg_memory_usage']:.2f}MB")
print(f"  Total optimizations: {summary['total_optimizations']}")
