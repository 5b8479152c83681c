"""What the API server says of the manifests that the core makes."""
