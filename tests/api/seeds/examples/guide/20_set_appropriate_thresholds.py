# Use reasonable thresholds for your model
exploded_params = debugger.check_gradient_explosion(model, threshold=10.0)
vanished_params = debugger.check_gradient_vanishing(model, threshold=1e-6)
