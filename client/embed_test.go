package client

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

type manifest struct {
	Version string
	Files   map[string]struct {
		Bytes     int
		Integrity string
	}
}

// spec: LIB-01, LIB-02
func TestDist(t *testing.T) {
	text, err := Dist.ReadFile("dist/manifest.json")
	require.NoError(t, err)
	var m manifest
	require.NoError(t, json.Unmarshal(text, &m))
	require.Regexp(t, `^\d+\.\d+\.\d+$`, m.Version)
	for _, name := range []string{"qos.min.js", "qos.js", "qos.mjs", "qos-precall.mjs", "qos-livekit.mjs", "qos-janus.mjs", "qos.d.ts"} {
		content, err := Dist.ReadFile("dist/" + name)
		require.NoError(t, err, name)
		require.Contains(t, m.Files, name)
		require.Len(t, content, m.Files[name].Bytes, name)
		sum := sha512.Sum384(content)
		require.Equal(t, m.Files[name].Integrity, "sha384-"+base64.StdEncoding.EncodeToString(sum[:]), name)
	}
	for _, name := range []string{"qos.min.js.map", "qos.js.map", "qos.mjs.map", "qos-precall.mjs.map", "qos-livekit.mjs.map", "qos-janus.mjs.map"} {
		content, err := Dist.ReadFile("dist/" + name)
		require.NoError(t, err, name)
		require.True(t, json.Valid(content), name)
	}
}
