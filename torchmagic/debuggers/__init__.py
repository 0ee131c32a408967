"""Settings, assembly and watching: probes, recorder and rules put around user code."""
