from torchmagic import DiffusionModelDebugger

# Initialize diffusion debugger
debugger = DiffusionModelDebugger(DebugLevel.BASIC)

# Analyze diffusion pipeline
pipeline_analysis = debugger.analyze_diffusion_pipeline(pipeline)
print(f"Total parameters: {pipeline_analysis['total_parameters']}")

# Monitor diffusion steps
for step in range(num_inference_steps):
    # Your diffusion step
    latents = pipeline.unet(latents, timestep, encoder_hidden_states)

    # Monitor step
    step_info = debugger.monitor_diffusion_step(pipeline, step, latents)
