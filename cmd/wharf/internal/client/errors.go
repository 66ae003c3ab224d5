package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
)

// Refused is the error of a request that the node answered with an error.
type Refused struct {
	Status int
	Answer *abi.Error
	// Retry is the Retry-After header, "" when there was none.
	Retry string
}

// Error implements the error interface.
func (r *Refused) Error() string { return r.Answer.Message }

// Unwrap returns the node's own error.
func (r *Refused) Unwrap() error { return r.Answer }

// Unreachable is the error of a request that got no answer, or none that can be trusted.
type Unreachable struct {
	Server string
	Err    error
}

// Error implements the error interface.
func (u *Unreachable) Error() string {
	if text, _ := u.secured(); text != "" {
		return text
	}
	return fmt.Sprintf("no node answers at %s: %v", u.Server, u.Err)
}

// Try returns what to do about it, "" for what there is to do when nothing answers.
func (u *Unreachable) Try() string {
	_, try := u.secured()
	return try
}

// secured says what is wrong with TLS where something does answer.
func (u *Unreachable) secured() (text, try string) {
	const trust = "--ca FILE, or SSL_CERT_FILE=FILE, with the certificate of whoever has signed it (a self-signed one has signed itself)"
	if _, ok := errors.AsType[x509.UnknownAuthorityError](u.Err); ok {
		return u.Server + " answers, but this machine does not know who has signed its certificate", trust
	}
	if wrong, ok := errors.AsType[x509.HostnameError](u.Err); ok {
		return fmt.Sprintf("%s answers, but its certificate is not for %s: %s", u.Server, wrong.Host, namesOf(wrong.Certificate)), "a URL with a name that the certificate has"
	}
	if wrong, ok := errors.AsType[x509.CertificateInvalidError](u.Err); ok && wrong.Reason == x509.Expired {
		return fmt.Sprintf("%s answers, but its certificate does not hold now: it does from %s to %s", u.Server,
			wrong.Cert.NotBefore.Format(time.DateTime), wrong.Cert.NotAfter.Format(time.DateTime)), "a new certificate on the node, or look at the clock of this machine"
	}
	if wrong, ok := errors.AsType[*tls.CertificateVerificationError](u.Err); ok {
		return fmt.Sprintf("%s answers, but its certificate cannot be trusted: %v", u.Server, wrong.Err), trust
	}
	if strings.Contains(u.Err.Error(), "server gave HTTP response to HTTPS client") { // net/http has no type for it
		return u.Server + " answers without TLS", strings.Replace(u.Server, "https:", "http:", 1)
	}
	return "", ""
}

// namesOf says whom a certificate is for.
func namesOf(c *x509.Certificate) string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "it names nobody"
	}
	return "it is for " + plainly.List(names[:min(len(names), 8)], "and")
}

// Unwrap returns what went wrong.
func (u *Unreachable) Unwrap() error { return u.Err }

// Stray is the error of an answer that no Wharf node gives: there is something
// else at the address.
type Stray struct {
	Server string
	Status int
	Start  string // of the answer
	Err    error
}

// Error implements the error interface.
func (s *Stray) Error() string {
	return fmt.Sprintf("what answers at %s is no Wharf node: HTTP %d, %q", s.Server, s.Status, s.Start)
}

// Unwrap returns why the answer could not be understood.
func (s *Stray) Unwrap() error { return s.Err }

// maxErrorBody bounds what is read of an error's body.
const maxErrorBody = 64 << 10

func refusal(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return &Stray{Server: resp.Request.URL.Host, Status: resp.StatusCode, Err: err}
	}
	return refusalFrom(resp, body)
}

func refusalFrom(resp *http.Response, body []byte) error {
	var envelope abi.ErrorEnvelope
	err := json.Unmarshal(body, &envelope)
	if refused := grantRefusal(resp.StatusCode, body); refused != nil {
		return &Refused{Status: resp.StatusCode, Answer: refused}
	}
	if err != nil || envelope.Error == nil {
		return &Stray{Server: resp.Request.URL.Host, Status: resp.StatusCode, Start: excerpt(body), Err: err}
	}
	return &Refused{Status: resp.StatusCode, Answer: envelope.Error, Retry: resp.Header.Get("Retry-After")}
}

// excerpt returns the first line of body, cut.
func excerpt(body []byte) string {
	const most = 80
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}
