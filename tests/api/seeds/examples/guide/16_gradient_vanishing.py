# Problem: Gradients become very small
vanished_params = debugger.check_gradient_vanishing(model, threshold=1e-6)
if vanished_params:
    # Solutions:
    # 1. Increase learning rate
    # 2. Use different activation functions
    # 3. Check weight initialization
    # 4. Use skip connections
