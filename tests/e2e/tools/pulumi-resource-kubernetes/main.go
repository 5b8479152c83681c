// Command pulumi-resource-kubernetes is the stock Kubernetes provider: upstream's own main package embeds two files
// that its module leaves out, so tests/e2e/tools/build.py puts their published twins beside this one.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() { provider.Serve("kubernetes", version.Version, schema, terraformMapping) }
