// Package testcert makes certificates for servers under test.
package testcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// lifetime is how long a certificate is valid before and after now.
const lifetime = 24 * time.Hour

// Chain is a certificate for a server, and the authority that signed it. Its members are PEM.
type Chain struct {
	Root []byte // certificate of the authority
	Leaf []byte // certificate of the server
	Key  []byte // private key of the server, PKCS #8

	pool *x509.CertPool
}

// New makes an authority and a certificate for hosts, which are IP addresses or DNS names. The keys are ECDSA on P-256.
func New(hosts ...string) (*Chain, error) {
	root := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Authority of a test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		Subject: pkix.Name{CommonName: hosts[0]}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	rootDER, rootKey, err := sign(root, root, nil)
	if err != nil {
		return nil, err
	}
	leafDER, key, err := sign(leaf, root, rootKey)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	c := &Chain{Root: encode("CERTIFICATE", rootDER), Leaf: encode("CERTIFICATE", leafDER), Key: encode("PRIVATE KEY", keyDER), pool: x509.NewCertPool()}
	c.pool.AppendCertsFromPEM(c.Root)
	return c, nil
}

// Chain returns the certificates of the server and of the authority, as a server sends them.
func (c *Chain) Chain() []byte { return append(append([]byte{}, c.Leaf...), c.Root...) }

// Roots returns the authority.
func (c *Chain) Roots() *x509.CertPool { return c.pool }

// Client returns the configuration of a client that trusts the authority.
func (c *Chain) Client() *tls.Config {
	return &tls.Config{RootCAs: c.pool, MinVersion: tls.VersionTLS12}
}

// sign makes a certificate with a key of its own. Without a signer it signs itself.
func sign(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (der []byte, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	if signer == nil {
		signer = key
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return nil, nil, err
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-lifetime), time.Now().Add(lifetime)
	der, err = x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	return der, key, err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
