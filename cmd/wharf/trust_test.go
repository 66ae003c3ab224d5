package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// signer signs certificates, and writes them to a folder.
type signer struct {
	t    *testing.T
	dir  string
	name string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newSigner(t *testing.T, dir, name string) *signer {
	t.Helper()
	s := &signer{t: t, dir: dir, name: name}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	s.cert, s.key = s.made(name, template)
	return s
}

// made makes a certificate that is signed by s, or by itself, and writes NAME.pem and NAME.key.
func (s *signer) made(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	parent, by := s.cert, s.key
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		s.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	for end, block := range map[string]*pem.Block{".pem": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(s.dir, name+end), pem.EncodeToMemory(block), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		s.t.Fatal(err)
	}
	return cert, key
}

func (s *signer) issue(name string) {
	s.t.Helper()
	s.made(name, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
}

// TestPrivateAuthority speaks to a node whose certificate an authority of one's own has signed, and which
// wants one of its clients.
func TestPrivateAuthority(t *testing.T) {
	dir := t.TempDir()
	own, clients := newSigner(t, dir, "ca"), newSigner(t, dir, "clients")
	own.issue("node")
	clients.issue("client")
	newSigner(t, dir, "others").issue("stranger")
	at := func(name string) string { return filepath.Join(dir, name) }
	cmd := exec.Command("wharf", "serve", "--listen", "127.0.0.1:0", "--data", at("data"), "--log-format", "json", "--set", pluginCacheSet(),
		"--set", "tls.client_auth=required,tls.client_ca="+at("clients.pem")+",tls.cert="+at("node.pem")+",tls.key="+at("node.key"))
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey)
	node, err := startProcess(cmd, at("stdout"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.stop(syscall.SIGKILL) })
	if !strings.HasPrefix(node.url, "https://") {
		t.Fatalf("the node is at %s", node.url)
	}
	shows := func(cert, key string) []string { return []string{"--client-cert", at(cert), "--client-key", at(key)} }
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		code int
		says string
	}{
		"flags":                   {args: append(shows("client.pem", "client.key"), "--ca", at("ca.pem"))},
		"the environment":         {env: map[string]string{"WHARF_CA": at("ca.pem"), "WHARF_CLIENT_CERT": at("client.pem"), "WHARF_CLIENT_KEY": at("client.key")}},
		"flags count more":        {args: []string{"--ca", at("ca.pem")}, env: map[string]string{"WHARF_CA": at("none"), "WHARF_CLIENT_CERT": at("client.pem"), "WHARF_CLIENT_KEY": at("client.key")}},
		"what the system says":    {args: shows("client.pem", "client.key"), code: exitUnreachable, says: "certificate"},
		"another authority":       {args: append(shows("client.pem", "client.key"), "--ca", at("others.pem")), code: exitUnreachable, says: "certificate"},
		"no certificate of one's": {args: []string{"--ca", at("ca.pem")}, code: exitUnreachable, says: "certificate"},
		"a stranger's":            {args: append(shows("stranger.pem", "stranger.key"), "--ca", at("ca.pem")), code: exitUnreachable, says: "certificate"},
		"another's key":           {args: append(shows("client.pem", "stranger.key"), "--ca", at("ca.pem")), code: exitUsage, says: "cannot be used"},
		"a certificate alone":     {args: []string{"--client-cert", at("client.pem")}, code: exitUsage, says: "given together"},
		"no file":                 {args: []string{"--ca", at("none")}, code: exitUsage, says: "no such file"},
		"no certificate in it":    {args: []string{"--ca", at("node.key")}, code: exitUsage, says: "holds no certificate"},
		"without TLS":             {args: []string{"--ca", at("ca.pem"), "--server", "http" + strings.TrimPrefix(node.url, "https")}, code: exitUsage, says: "https://"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			env := map[string]string{"WHARF_SERVER": node.url, "WHARF_API_KEY": testKey}
			for name, value := range c.env {
				env[name] = value
			}
			a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(name string) string { return env[name] }}
			code := a.execute(t.Context(), append([]string{"node", "show"}, c.args...))
			if code != c.code || !strings.Contains(errs.String(), c.says) {
				t.Errorf("it ends with %d: %s%s", code, &out, &errs)
			}
		})
	}

	// The WebSocket of editors and the peers of "wharf a2a" are reached by the same.
	with := append(shows("client.pem", "client.key"), "--ca", at("ca.pem"), "--server", node.url, "--api-key", testKey)
	for _, c := range []struct{ line, stdin, says string }{
		{"a2a card", "", "spoken to"},
		{"acp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n", `"protocolVersion":1`},
		{"mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n", `"serverInfo"`},
	} {
		var out, errs bytes.Buffer
		a := &app{stdin: strings.NewReader(c.stdin), stdout: &out, stderr: &errs, env: func(string) string { return "" }}
		if code := a.execute(t.Context(), append(strings.Fields(c.line), with...)); code != 0 || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s ends with %d: %s%s", c.line, code, &out, &errs)
		}
	}
}
