# Monitor loss, gradients, and key tensors
await logger.check_tensor_anomalies_async(loss, "loss")
await logger.check_gradient_anomalies_async(model)
