"""The project's own files: set-up, requirements, tool settings, and what may be in the repository."""
