package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Where something answers that cannot be trusted, nobody is told that nothing does.
func TestWhatIsWrongWithTLSIsSaid(t *testing.T) {
	quiet := func(s *httptest.Server) *httptest.Server {
		s.Config.ErrorLog = nil
		t.Cleanup(s.Close)
		return s
	}
	secure := quiet(httptest.NewTLSServer(http.NotFoundHandler()))
	plain := quiet(httptest.NewServer(http.NotFoundHandler()))
	trusting := func(c *Client) {
		c.http.Transport.(*http.Transport).TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	}
	for what, test := range map[string]struct {
		server    string
		change    func(*Client)
		says, try string
	}{
		"an authority that nobody knows": {server: secure.URL, says: "answers, but this machine does not know who has signed its certificate", try: "--ca FILE, or SSL_CERT_FILE=FILE"},
		"another name": {server: strings.Replace(secure.URL, "127.0.0.1", "elsewhere.test", 1), change: func(c *Client) {
			trusting(c)
			c.http.Transport.(*http.Transport).DialContext = (&fixed{secure.Listener.Addr()}).dial
		}, says: "its certificate is not for elsewhere.test: it is for ", try: "a name that the certificate has"},
		"a certificate of another time": {server: secure.URL, change: func(c *Client) {
			trusting(c)
			c.http.Transport.(*http.Transport).TLSClientConfig.Time = func() time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) }
		}, says: "does not hold now", try: "a new certificate on the node"},
		"no TLS": {server: strings.Replace(plain.URL, "http:", "https:", 1), says: "answers without TLS", try: plain.URL},
	} {
		c, err := New(test.server, "key")
		if err != nil {
			t.Fatal(err)
		}
		if test.change != nil {
			test.change(c)
		}
		_, err = c.Task(t.Context(), "task_1")
		wrong, ok := errors.AsType[*Unreachable](err)
		if !ok || !strings.Contains(wrong.Error(), test.says) || strings.Contains(wrong.Error(), "no node answers") || !strings.Contains(wrong.Try(), test.try) {
			t.Errorf("%s: %v", what, err)
			if ok {
				t.Logf("try %s", wrong.Try())
			}
		}
	}
	closed := &Unreachable{Server: "http://127.0.0.1:1", Err: errors.New("connection refused")}
	if closed.Error() != "no node answers at http://127.0.0.1:1: connection refused" || closed.Try() != "" {
		t.Errorf("%v, try %q", closed, closed.Try())
	}
	none := &Unreachable{Server: "x", Err: &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}}}
	if !strings.Contains(none.Error(), "it names nobody") {
		t.Error(none)
	}
}

// fixed dials one address, whatever is asked for.
type fixed struct{ to net.Addr }

func (f *fixed) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, f.to.Network(), f.to.String())
}
