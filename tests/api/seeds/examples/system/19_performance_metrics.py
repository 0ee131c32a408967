# Analyze performance metrics
for metrics in debugger.debug_metrics:
    print(f"Operation: {metrics.mode.value}")
    print(f"  Execution time: {metrics.execution_time:.4f}s")
    print(f"  Memory usage: {metrics.memory_usage:.2f}MB")
    print(f"  GPU memory: {metrics.gpu_memory:.2f}MB" if metrics.gpu_memory else "  GPU memory: N/A")

    if metrics.gradient_anomalies:
        print(f"  Gradient anomalies: {metrics.gradient_anomalies}")
