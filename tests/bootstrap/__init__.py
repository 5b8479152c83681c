"""The bootstrap stack."""
