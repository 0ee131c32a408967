# Always validate inputs
validate_model_input(data)
