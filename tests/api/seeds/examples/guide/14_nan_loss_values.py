# Problem: Loss becomes NaN
if torch.isnan(loss):
    # Check input data
    input_info = debugger.analyze_tensor(inputs, "model_inputs")

    # Check model parameters
    param_info = debugger.analyze_model_parameters(model)

    # Check learning rate
    if learning_rate > 1.0:
        logger.log_warning("Learning rate too high")
