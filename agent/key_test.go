package agent_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
)

// One key in both forms and its thumbprint, made by Node's crypto module: an implementation
// that is not ours. It signs nothing anywhere.
const (
	nodeSEC1 = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIIpdp6GGd+t8IdleKBrxFzn50/vOZ2+afHRAOYaA+mo7oAoGCCqGSM49
AwEHoUQDQgAEcXYn/tmhaSZ2rHkcJnRR8LYXJXwzB04IZj71bLc0fkJsF51eYVHI
eg3JT7FXIUfenaFLwiap9ilfQKlQ9Oa4cw==
-----END EC PRIVATE KEY-----
`
	nodePKCS8 = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgil2noYZ363wh2V4o
GvEXOfnT+85nb5p8dEA5hoD6ajuhRANCAARxdif+2aFpJnaseRwmdFHwthclfDMH
TghmPvVstzR+QmwXnV5hUch6DclPsVchR96doUvCJqn2KV9AqVD05rhz
-----END PRIVATE KEY-----
`
	nodeThumbprint = "CF_hD6jXawdhjOxobaGHJywnSbmg6TmjEjPrOXAOrO8"
	parameters     = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
)

// spec: AUTH-08
func TestKeyFilesOfOtherPrograms(t *testing.T) {
	for name, text := range map[string]string{
		"SEC1": nodeSEC1, "PKCS#8": nodePKCS8, "openssl ecparam": parameters + nodeSEC1, "a remark": "made by hand\n" + nodePKCS8,
	} {
		key, err := agent.ParseKey([]byte(text))
		require.NoError(t, err, name)
		require.Equal(t, nodeThumbprint, key.ID(), name)
		require.Equal(t, agent.ES256, key.Algorithm(), name)
	}
	named, err := agent.ParseKey([]byte("keyID: key-7\n" + nodePKCS8))
	require.NoError(t, err)
	require.Equal(t, "key-7", named.ID())
}

func TestKeyFileRoundTrip(t *testing.T) {
	es, err := agent.GenerateKey()
	require.NoError(t, err)
	hs, err := agent.GenerateSecretKey()
	require.NoError(t, err)
	for _, key := range []*agent.Key{es, hs} {
		text, err := key.MarshalPrivate()
		require.NoError(t, err)
		again, err := agent.ParseKey(text)
		require.NoError(t, err)
		require.True(t, key.Equal(again))
	}
	require.False(t, es.Equal(hs))
	require.False(t, hs.Equal(es))
	require.False(t, es.Equal(nil))
	other, err := agent.GenerateSecretKey()
	require.NoError(t, err)
	require.False(t, hs.Equal(other))
	public, err := es.MarshalPublic()
	require.NoError(t, err)
	block, _ := pem.Decode(public)
	read, err := x509.ParsePKIXPublicKey(block.Bytes)
	require.NoError(t, err)
	require.True(t, es.Public().Equal(read))
	require.IsType(t, []byte{}, hs.Material())
	require.True(t, es.Public().Equal(es.Material()))
	raw, err := agent.NewSecretKey("raw", make([]byte, 32))
	require.NoError(t, err)
	_, err = raw.MarshalPrivate()
	require.ErrorContains(t, err, "no visible text")
	_, err = hs.MarshalPublic()
	require.ErrorContains(t, err, "no public half")
}

// spec: AUTH-05, AUTH-08
func TestKeyFilesThatAreRefused(t *testing.T) {
	refused := func(text, want string) {
		t.Helper()
		key, err := agent.ParseKey([]byte(text))
		require.ErrorContains(t, err, want)
		require.Nil(t, key)
	}
	refused("", "no whole PEM block")
	refused(nodePKCS8[:120], "no whole PEM block")
	refused(nodeSEC1+nodePKCS8, "two PEM blocks")
	refused("keyID:\n"+nodeSEC1, "is empty")
	refused("keyID: a\nkeyID: b\n"+nodeSEC1, "two lines")
	refused("keyID: a b\n"+nodeSEC1, "visible ASCII")
	refused("keyID: "+strings.Repeat("x", agent.MaxKeyIDBytes+1)+"\n"+nodeSEC1, "1 to 128 bytes")
	refused(strings.ReplaceAll(nodeSEC1, "EC PRIVATE", "PUBLIC"), "this is the public key")
	refused(strings.ReplaceAll(nodeSEC1, "EC PRIVATE", "ENCRYPTED PRIVATE"), "the key is encrypted")
	refused(strings.ReplaceAll(nodeSEC1, "EC PRIVATE", "RSA PRIVATE"), "no key for ES256")
	refused(strings.ReplaceAll(nodeSEC1, "EC PRIVATE", "PRIVATE"), "cannot be read as PKCS#8")
	refused(strings.ReplaceAll(nodePKCS8, "PRIVATE", "EC PRIVATE"), "cannot be read as SEC1")
	refused("secret: "+strings.Repeat("s", 32)+"\n", "needs a line")
	refused("keyID: s\nsecret: "+strings.Repeat("s", 31)+"\n", "32 bytes or more")
	refused("keyID: s\nsecret: "+strings.Repeat("s", 32)+"\n"+nodeSEC1, "a secret and a PEM block")
	refused("keyID: s\nsecret:\n", "is empty")
	wrongCurve, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	refused(pkcs8(t, wrongCurve), "the curve P-256")
	refused("keyID: k\n"+pkcs8(t, wrongCurve), "the curve P-256")
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	refused(pkcs8(t, edwards), "needs an ECDSA key")
}

func block(t *testing.T, kind string, content []byte) string {
	t.Helper()
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}

func pkcs8(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return block(t, "PRIVATE KEY", der)
}

// TestKeysAreNotPrinted: a key that ends in a log by mistake shows its name.
func TestKeysAreNotPrinted(t *testing.T) {
	secret := bytes.Repeat([]byte("s3cret!"), 5)
	key, err := agent.NewSecretKey("k1", secret)
	require.NoError(t, err)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(format, key)
		require.Equal(t, "HS256 key k1", text)
	}
}

func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{nodeSEC1, nodePKCS8, parameters + nodeSEC1, "keyID: x\n" + nodePKCS8, "-----BEGIN "} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := agent.ParseKey(text)
		if err != nil {
			require.Nil(t, key)
			return
		}
		require.NotEmpty(t, key.ID())
		_, err = key.Sign(&agent.Claims{AppID: "a", UserID: "u"})
		require.NoError(t, err, "what was taken can sign")
	})
}
