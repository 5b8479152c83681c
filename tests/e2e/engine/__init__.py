"""The real Pulumi engine on the unmodified project: copies, runs, and what each run said."""
