"""The face in IPython and Jupyter: magics, cell life-cycle, display and panel."""
