def recovery_strategy(error: Exception, context: Dict[str, Any]) -> bool:
    """Implement recovery strategies for different errors."""
    if "out of memory" in str(error).lower():
        # Clear GPU cache
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return True

    elif "gradient" in str(error).lower():
        # Reset gradients
        for param in model.parameters():
            if param.grad is not None:
                param.grad.zero_()
        return True

    elif "nan" in str(error).lower():
        # Skip batch with NaN
        return True

    return False
