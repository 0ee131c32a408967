# Apply optimizations to model
optimized_model = debugger.optimize_model(
    model=model,
    optimization_mode=OptimizationMode.FULL_OPTIMIZATION
)

# Check optimization results
print(f"Model optimized: {optimized_model is not model}")
print(f"Optimization metrics: {debugger.optimization_metrics[-1]}")
