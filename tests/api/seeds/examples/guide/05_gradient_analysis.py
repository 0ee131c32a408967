# Analyze gradients
gradient_info = debugger.analyze_gradients(model)

# Check for gradient explosion
exploded_params = debugger.check_gradient_explosion(model, threshold=10.0)
if exploded_params:
    print(f"Gradient explosion in: {exploded_params}")

# Check for gradient vanishing
vanished_params = debugger.check_gradient_vanishing(model, threshold=1e-6)
if vanished_params:
    print(f"Gradient vanishing in: {vanished_params}")
