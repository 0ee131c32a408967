# Always try AMP first for GPU training
optimized_model = debugger.optimize_model(model, OptimizationMode.AMP)
