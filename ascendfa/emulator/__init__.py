"""What only the emulated device offers: predicted kernel times and timelines."""

from __future__ import annotations

from ascendfa.emulator.profile import KernelProfile, Profile, profile

__all__ = ["KernelProfile", "Profile", "profile"]
