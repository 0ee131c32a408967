async def debug_training_loop(model, dataloader, optimizer, logger):
    """Training loop with comprehensive debugging."""

    for epoch in range(num_epochs):
        for step, batch in enumerate(dataloader):
            try:
                # Forward pass
                outputs = model(batch)
                loss = outputs.loss

                # Check loss tensor
                loss_info = await logger.check_tensor_anomalies_async(loss, "loss")
                if loss_info["has_nan"] or loss_info["has_inf"]:
                    logger.log_error(
                        ValueError("Loss contains NaN/Inf values"),
                        TrainingPhase.TRAINING,
                        {"epoch": epoch, "step": step, "loss_info": loss_info}
                    )
                    continue

                # Backward pass
                loss.backward()

                # Check gradients
                gradient_info = await logger.check_gradient_anomalies_async(model)
                if gradient_info["params_with_nan_grad"] > 0:
                    logger.log_warning(
                        f"Gradient anomalies detected at step {step}",
                        TrainingPhase.TRAINING
                    )

                # Update progress
                await logger.update_progress_async(
                    epoch=epoch,
                    step=step,
                    loss=loss.item(),
                    learning_rate=optimizer.param_groups[0]['lr']
                )

                optimizer.step()
                optimizer.zero_grad()

            except Exception as e:
                logger.log_error(e, TrainingPhase.TRAINING, {
                    "epoch": epoch,
                    "step": step
                })
                raise
