def debug_training_step(self, model: nn.Module, optimizer: torch.optim.Optimizer,
                       loss_fn: Callable, data_batch: torch.Tensor,
                       target_batch: torch.Tensor, epoch: int = 0, batch: int = 0):
    """Debug complete training step."""
    # Debug forward pass
    output = self.debugger.debug_forward_pass(
        model, data_batch,
        epoch=epoch, batch=batch
    )

    # Debug loss computation
    loss = loss_fn(output, target_batch)

    # Debug backward pass
    gradient_norm = self.debugger.debug_backward_pass(
        loss, model,
        epoch=epoch, batch=batch
    )

    # Debug optimization step
    param_norm = self.debugger.debug_optimization_step(
        optimizer, model,
        epoch=epoch, batch=batch
    )

    # Debug memory usage
    cpu_memory, gpu_memory = self.debugger.debug_memory_usage(
        epoch=epoch, batch=batch
    )

    # Debug performance
    execution_time = self.debugger.debug_performance(
        "training_step",
        epoch=epoch, batch=batch
    )

    # Log to training logger if available
    if self.training_logger:
        metrics = {
            'loss': loss.item(),
            'gradient_norm': gradient_norm,
            'param_norm': param_norm,
            'cpu_memory': cpu_memory,
            'gpu_memory': gpu_memory,
            'execution_time': execution_time
        }
        self.training_logger.log_batch_metrics(metrics)

    return {
        'loss': loss.item(),
        'gradient_norm': gradient_norm,
        'param_norm': param_norm,
        'cpu_memory': cpu_memory,
        'gpu_memory': gpu_memory,
        'execution_time': execution_time
    }
