# Compile model for optimization
optimized_model = debugger.optimize_model(model, OptimizationMode.COMPILATION)

# Use compiled model for inference
with torch.no_grad():
    output = optimized_model(data)
