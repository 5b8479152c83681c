"""What the tests judge a recorded stack with: the provider's schema, Kubernetes' own, and the rules of the design."""
