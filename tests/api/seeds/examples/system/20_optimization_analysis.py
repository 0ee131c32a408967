# Analyze optimization results
for metrics in debugger.optimization_metrics:
    print(f"Optimization: {metrics.mode.value}")
    print(f"  Execution time: {metrics.execution_time:.4f}s")
    print(f"  Speedup factor: {metrics.speedup_factor:.2f}x" if metrics.speedup_factor else "  Speedup factor: N/A")
    print(f"  Memory savings: {metrics.memory_savings:.2%}" if metrics.memory_savings else "  Memory savings: N/A")
    print(f"  AMP enabled: {metrics.amp_enabled}")
