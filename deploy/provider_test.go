package deploy

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

func TestRetrieve(t *testing.T) {
	p := NewFactory().Create(confmap.ProviderSettings{})
	require.Equal(t, "deploy", p.Scheme())
	got, err := p.Retrieve(t.Context(), "deploy:run", nil)
	require.NoError(t, err)
	conf, err := got.AsConf()
	require.NoError(t, err)
	require.True(t, conf.IsSet("service::pipelines::logs"))
	require.NoError(t, p.Shutdown(t.Context()))
}

func TestRetrieveUnknown(t *testing.T) {
	p := NewFactory().Create(confmap.ProviderSettings{})
	_, err := p.Retrieve(t.Context(), "deploy:../run", nil)
	require.ErrorContains(t, err, `no embedded configuration "../run", there are: run`)
	_, err = p.Retrieve(t.Context(), "file:run", nil)
	require.ErrorContains(t, err, `not a URI of the scheme "deploy"`)
}
