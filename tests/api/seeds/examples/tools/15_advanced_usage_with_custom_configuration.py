# Custom debug configuration
config = DebugConfig(
    mode=DebugMode.ANOMALY_DETECTION,
    level=DebugLevel.EXPERT,
    enable_anomaly_detection=True,
    anomaly_detection_mode="raise",  # Raise exceptions on anomalies
    log_gradients=True,
    log_activations=True,
    log_weights=True,
    save_debug_info=True,
    debug_output_dir="custom_debug_outputs"
)

# Create debug manager
debug_manager = PyTorchDebugManager(config)

# Debug model inference
input_data = torch.randn(1, 784)
inference_result = debug_manager.debug_model_inference(model, input_data)

print(f"Inference time: {inference_result['execution_time']:.4f}s")
print(f"Memory usage: {inference_result['cpu_memory']:.2f} MB")
