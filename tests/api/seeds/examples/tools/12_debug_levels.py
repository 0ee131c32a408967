class DebugLevel(Enum):
    BASIC = "basic"           # Basic debugging
    INTERMEDIATE = "intermediate" # Intermediate debugging
    ADVANCED = "advanced"     # Advanced debugging
    EXPERT = "expert"         # Expert-level debugging
