# Problem: Gradients become very large
exploded_params = debugger.check_gradient_explosion(model, threshold=10.0)
if exploded_params:
    # Solutions:
    # 1. Reduce learning rate
    # 2. Apply gradient clipping
    # 3. Check input scaling
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
