"""What guards a training: its inputs, its resources, its errors, and the step that recovers from them."""
