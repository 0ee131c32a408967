# Enable all debugging options
engine.enable_debugging()

# Enable specific debugging options
engine.enable_debugging(['memory_usage', 'gradient_norms'])

# Disable all debugging options
engine.disable_debugging()

# Check current debugging status
status = engine.get_debugging_status()
