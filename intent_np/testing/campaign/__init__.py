"""Random kernels held against every oracle: `intent-np fuzz`.

Seeds are examined in processes that survive a crash and a hang; what fails is sorted into findings, and each finding is
reduced to a small kernel and saved as a test.  A journal of what is done makes a campaign resumable.
"""

from .regression import holds
from .run import Campaign, Settings

__all__ = ["Campaign", "Settings", "holds"]
