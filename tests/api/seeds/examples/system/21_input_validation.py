def validate_model_input(data: torch.Tensor) -> bool:
    """Validate model input for security."""
    # Check for NaN/Inf values
    if torch.isnan(data).any() or torch.isinf(data).any():
        raise ValueError("Input contains NaN or infinite values")

    # Check for reasonable value ranges
    if torch.abs(data).max() > 1000:
        raise ValueError("Input values too large")

    # Check for expected shape
    if data.dim() != 2:
        raise ValueError("Input must be 2-dimensional")

    return True
