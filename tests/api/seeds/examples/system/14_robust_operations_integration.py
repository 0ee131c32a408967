# Integrate with robust operations for error handling
with debugger.debug_context("robust_inference"):
    result = robust_ops.model_inference.safe_inference(
        model=model,
        input_data=data,
        device=torch.device('cpu'),
        max_retries=3
    )

    if result.success:
        output = result.data
        # Process output
    else:
        logger.error(f"Inference failed: {result.error_message}")
