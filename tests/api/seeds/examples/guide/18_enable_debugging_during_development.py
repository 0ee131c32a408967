# Always enable debugging during development
logger = AsyncTrainingLogger(
    user_id=123,
    model_name="model_name",
    enable_autograd_debug=True
)
