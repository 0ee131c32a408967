@optimize_model(optimization_mode=OptimizationMode.AMP)
def inference_step(model, data):
    """Inference with automatic optimization."""
    with torch.no_grad():
        return model(data)

# Usage
output = inference_step(model, data)
