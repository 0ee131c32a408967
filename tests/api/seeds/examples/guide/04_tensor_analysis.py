from torchmagic import PyTorchDebugger

debugger = PyTorchDebugger()

# Analyze individual tensor
tensor_info = debugger.analyze_tensor(my_tensor, "my_tensor")
print(f"Has NaN: {tensor_info.has_nan}")
print(f"Mean value: {tensor_info.mean_value}")

# Analyze model parameters
param_analysis = debugger.analyze_model_parameters(model)
for name, info in param_analysis.items():
    if info.has_nan:
        print(f"Parameter {name} has NaN values")
