// Package deploy carries the shipped configurations inside the binary: the confmap
// provider of the scheme "deploy" resolves `--config deploy:run` to run.yaml of this
// folder, so that one binary runs alone.
package deploy

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"go.opentelemetry.io/collector/confmap"
)

// Scheme is the scheme of the provider's URIs.
const Scheme = "deploy"

//go:embed *.yaml
var configurations embed.FS

// NewFactory returns the factory of the provider. Retrieve("deploy:NAME") returns
// NAME.yaml of this folder, or an error that lists the names there are.
func NewFactory() confmap.ProviderFactory {
	return confmap.NewProviderFactory(func(confmap.ProviderSettings) confmap.Provider { return provider{} })
}

type provider struct{}

func (provider) Scheme() string                 { return Scheme }
func (provider) Shutdown(context.Context) error { return nil }

func (provider) Retrieve(_ context.Context, uri string, _ confmap.WatcherFunc) (*confmap.Retrieved, error) {
	name, ok := strings.CutPrefix(uri, Scheme+":")
	if !ok {
		return nil, fmt.Errorf("%q is not a URI of the scheme %q", uri, Scheme)
	}
	content, err := configurations.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no embedded configuration %q, there are: %s", name, strings.Join(names(), ", "))
	}
	return confmap.NewRetrievedFromYAML(content)
}

// names lists the embedded configurations.
func names() []string {
	files, err := fs.Glob(configurations, "*.yaml")
	if err != nil {
		panic("BUG: the pattern is constant: " + err.Error())
	}
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".yaml")
	}
	return files
}
