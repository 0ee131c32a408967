from torchmagic import AsyncTrainingLogger

# Initialize logger with autograd debugging
logger = AsyncTrainingLogger(
    user_id=123,
    model_name="microsoft/DialoGPT-medium",
    enable_autograd_debug=True  # Enables PyTorch debugging
)

# Start training (autograd debugging automatically enabled)
logger.start_training(total_epochs=10, total_steps=1000)

# Check tensor anomalies during training
tensor_info = await logger.check_tensor_anomalies_async(loss_tensor, "loss")
if tensor_info["has_nan"]:
    logger.log_warning("Loss tensor contains NaN values")

# Check gradient anomalies
gradient_info = await logger.check_gradient_anomalies_async(model)
if gradient_info["params_with_nan_grad"] > 0:
    logger.log_warning("Model has parameters with NaN gradients")
