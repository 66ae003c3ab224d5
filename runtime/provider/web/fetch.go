package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// hop is one request on the way: the first, or one that a redirect asks for.
type hop struct {
	method string
	url    *url.URL // without values
	header map[string]string
	body   []byte
}

// journey is a request of a plugin while it is made.
type journey struct {
	web     *Web
	request *request
	values  []secret.Value
	scrub   *secret.Scrub
	start   string // the origin that secrets stay with
}

// fetch makes the request, follows redirects and returns the answer. Whatever it
// returns holds no value of a secret.
func (w *Web) fetch(ctx context.Context, r *request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	j := &journey{web: w, request: r, start: origin(r.target)}
	for _, name := range r.names {
		v, err := w.value(ctx, r, name)
		if err != nil {
			return nil, err
		}
		j.values = append(j.values, v)
	}
	j.scrub = secret.NewScrub(j.values)
	answer, err := j.travel(ctx)
	if err != nil {
		return nil, j.refusal(ctx, err)
	}
	return json.Marshal(answer, json.Deterministic(true))
}

// value reads a secret for a request. That it is used is on disk by then.
func (w *Web) value(ctx context.Context, r *request, name string) (secret.Value, error) {
	v := r.vaulted[name]
	if v == nil {
		value, err := w.config.Secrets.Value(ctx, r.plugin, name)
		if err == nil {
			err = r.tellUse(ctx, name, r.target.Host, nil)
		}
		return value, err
	}
	text, err := v.Value(ctx, r.target.Host)
	return secret.NewValue(name, text), err
}

func (j *journey) travel(ctx context.Context) (*abi.CallHTTPFetchAnswer, error) {
	h := &hop{j.request.method, j.request.target, j.request.header, j.request.body}
	for range maxRedirects + 1 {
		resp, err := j.send(ctx, h)
		if err != nil {
			return nil, err
		}
		next, err := j.next(h, resp)
		if err == nil && next == nil {
			return j.read(h, resp)
		}
		_ = resp.Body.Close()
		if err != nil {
			return nil, err
		}
		h = next
	}
	return nil, tooLarge("the host redirected more than %d times", maxRedirects)
}

// send makes one request of the journey.
func (j *journey) send(ctx context.Context, h *hop) (*http.Response, error) {
	grant, err := j.web.grantFor(j.request.plugin, h.method, h.url)
	if err != nil {
		return nil, err
	}
	u, values := *h.url, j.valuesFor(h.url)
	u.RawQuery = secret.FillQuery(u.RawQuery, values)
	req, err := http.NewRequestWithContext(ctx, h.method, u.String(), bytes.NewReader(h.body))
	if err != nil {
		return nil, invalid("the request cannot be made")
	}
	if len(h.body) == 0 {
		req.Body, req.ContentLength, req.GetBody = http.NoBody, 0, nil
	}
	req.Header.Set("User-Agent", j.web.config.Agent)
	for name, text := range h.header {
		value := secret.Fill(text, values)
		if !fieldValue(value) {
			return nil, provider.Refuse(abi.CallUnavailable, secret.CodeUnavailable,
				"a secret in the header "+name+" has a value that no header may have")
		}
		req.Header.Set(name, value)
	}
	transport := j.web.public
	if grant.Private {
		transport = j.web.private
	}
	return transport.RoundTrip(req)
}

// valuesFor returns the values for a hop: none once a redirect has left where the
// request began.
func (j *journey) valuesFor(u *url.URL) []secret.Value {
	if origin(u) != j.start {
		return nil
	}
	return j.values
}

// next returns the hop that an answer redirects to, nil when it does not.
func (j *journey) next(h *hop, resp *http.Response) (*hop, error) {
	location := resp.Header.Get("Location")
	if location == "" || !slices.Contains([]int{301, 302, 303, 307, 308}, resp.StatusCode) {
		return nil, nil
	}
	// Where the host repeats a value it becomes a handle again, which is filled in
	// for the same origin alone.
	target, err := h.url.Parse(j.scrub.Text(location))
	if err != nil {
		return nil, denied("the host redirects to a malformed URL")
	}
	if err := checkTarget(target); err != nil {
		return nil, denied("the host redirects to where no request can go: %v", err)
	}
	next := &hop{h.method, target, h.header, h.body}
	next.rewrite(resp.StatusCode)
	if origin(target) != origin(h.url) {
		next.leave()
	}
	return next, nil
}

// rewrite makes of a write what a redirect makes of it (RFC 9110, 15.4).
func (h *hop) rewrite(status int) {
	switch {
	case status == 307 || status == 308 || h.method == http.MethodHead || h.method == http.MethodGet:
		return
	case status != 303 && h.method != http.MethodPost:
		return
	}
	h.method, h.body = http.MethodGet, nil
	h.header = maps.Clone(h.header)
	for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Location"} {
		delete(h.header, name)
	}
}

// leave takes away what was meant for the host before.
func (h *hop) leave() {
	h.header = maps.Clone(h.header)
	maps.DeleteFunc(h.header, func(name, value string) bool {
		return name == "Authorization" || name == "Cookie" || len(secret.Names(value)) > 0
	})
}

// hopByHop are headers of the connection, not of the answer.
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// read makes an answer of a response, without what is secret.
func (j *journey) read(h *hop, resp *http.Response) (*abi.CallHTTPFetchAnswer, error) {
	defer resp.Body.Close()
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") && len(j.values) > 0 {
		return nil, provider.Refuse(abi.CallUnavailable, CodeUnavailable, "the answer is encoded as "+j.scrub.Text(strings.ToValidUTF8(coding, "\uFFFD"))+
			", in which secrets of the request could not be found: leave out the header Range")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, j.web.config.Response+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > j.web.config.Response {
		return nil, tooLarge("the answer is longer than %d bytes", j.web.config.Response)
	}
	answer := &abi.CallHTTPFetchAnswer{
		Status: resp.StatusCode, URL: j.scrub.Text(h.url.String()), Header: j.header(resp.Header), BytesSent: int64(len(j.request.body)),
	}
	clean := j.scrub.Text(string(body))
	if utf8.ValidString(clean) {
		answer.Text = clean
	} else {
		answer.Body = []byte(clean)
	}
	return answer, nil
}

// header writes the headers of an answer with lower-case names, several values of
// one name in one, separated by commas; cookies by line breaks.
func (j *journey) header(from http.Header) map[string]string {
	out := make(map[string]string, len(from))
	for name, values := range from {
		if slices.Contains(hopByHop, name) {
			continue
		}
		separator := ", "
		if name == "Set-Cookie" {
			separator = "\n"
		}
		text := strings.ToValidUTF8(strings.Join(values, separator), "\uFFFD")
		out[strings.ToLower(name)] = j.scrub.Text(text)
	}
	return out
}

// refusal says why a request failed, without addresses or values: net/http repeats
// the URL in its errors.
func (j *journey) refusal(ctx context.Context, err error) error {
	var refused *provider.Refusal
	var address *addressError
	var dns *net.DNSError
	host := j.request.target.Host
	switch {
	case errors.As(err, &refused):
		return provider.Refuse(refused.Status, refused.Code, j.scrub.Text(refused.Message))
	case errors.As(err, &address):
		return denied("the plugin %q may not connect to %s: %v, and the entry of grants.%s.http has no private: true",
			j.request.plugin, host, address, j.request.plugin)
	case errors.Is(ctx.Err(), context.DeadlineExceeded), timedOut(err):
		return provider.Refuse(abi.CallTimeout, CodeTimeout, "the request was not done within "+j.request.timeout.String())
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &dns):
		return provider.Refuse(abi.CallUnavailable, CodeUnavailable, "the name of the host "+host+" leads nowhere")
	}
	return provider.Refuse(abi.CallUnavailable, CodeUnavailable, j.scrub.Text("the host "+host+" did not answer: "+reason(err)))
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// reason returns the innermost error, which tells neither URL nor address.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
