def _check_gradients(self, model: nn.Module) -> float:
    """Check gradients for anomalies."""
    total_norm = 0.0
    param_count = 0

    for param in model.parameters():
        if param.grad is not None:
            param_norm = param.grad.data.norm(2)
            total_norm += param_norm.item() ** 2
            param_count += 1

            # Check for NaN/Inf in gradients
            if torch.isnan(param.grad).any():
                self.logger.warning(f"NaN detected in gradients of {param}")

            if torch.isinf(param.grad).any():
                self.logger.warning(f"Inf detected in gradients of {param}")

    if param_count > 0:
        total_norm = total_norm ** (1. / 2)

    return total_norm
