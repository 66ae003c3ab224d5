package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// canary is a secret's value. It has a character that every encoding escapes.
const canary = `s3cr3t/"canary+value`

// serve runs a handler on loopback and returns its address.
func serve(t *testing.T, h http.HandlerFunc) (host string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// newWeb returns a Web whose plugin "p" holds the grants, and the secrets "key"
// and, for the host other.test alone, "bound".
func newWeb(t *testing.T, c Config, grants ...Grant) *Web {
	t.Helper()
	c.Grants = map[string][]Grant{"p": grants}
	c.Secrets = secret.New(secret.Config{
		Sources: map[string]secret.Source{"key": {Env: "KEY"}, "bound": {Env: "KEY", Hosts: []string{"other.test"}},
			"ungranted": {Env: "KEY"}, "unset": {Env: "NONE"}, "lines": {Env: "LINES"}},
		Grants: map[string][]string{"p": {"key", "bound", "unset", "lines"}},
		Getenv: func(name string) (string, bool) {
			v, ok := map[string]string{"KEY": canary, "LINES": "a\nb"}[name]
			return v, ok
		},
	})
	w := New(c)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func prepare(t *testing.T, w *Web, req abi.CallHTTPFetchRequest) (provider.Plan, error) {
	t.Helper()
	raw, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return w.Prepare(t.Context(), &provider.Call{Name: abi.CallHTTPFetch, Request: raw, Plugin: "p", IdempotencyKey: "idem-1"})
}

// fetch makes a request and returns its answer, and what the plugin would read.
func fetch(t *testing.T, w *Web, req abi.CallHTTPFetchRequest) (answer abi.CallHTTPFetchAnswer, raw []byte, err error) {
	t.Helper()
	plan, err := prepare(t, w, req)
	if err != nil {
		return answer, nil, err
	}
	raw, err = plan.Do(t.Context(), func(string) {})
	if err == nil {
		if err := json.Unmarshal(raw, &answer); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
	}
	return answer, raw, err
}

// refused checks that err is an answer for the plugin with the given status, and
// that its message holds want.
func refused(t *testing.T, err error, status abi.CallStatus, want string) {
	t.Helper()
	r, ok := errors.AsType[*provider.Refusal](err)
	if !ok || r.Status != status || !strings.Contains(r.Message, want) {
		t.Errorf("got %v, want status %d and %q", err, status, want)
	}
}

func here(host string, methods ...string) Grant {
	return Grant{Hosts: []string{host}, Methods: methods, Private: true}
}

func TestARequestAndItsAnswer(t *testing.T) {
	var got *http.Request
	var body []byte
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header()["X-Two"] = []string{"a", "b"}
		w.Header()["Set-Cookie"] = []string{"a=1, x", "b=2"}
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("short and stout"))
	})
	w := newWeb(t, Config{Agent: "wharf/test"}, here(host, "POST"))
	plan, err := prepare(t, w, abi.CallHTTPFetchRequest{Method: "POST", URL: "http://" + host + "/a%2Fb?x=1#frag",
		Header: map[string]string{"content-type": "text/plain"}, Text: "hello", IdempotencyHeader: "Idempotency-Key"})
	if err != nil || plan.Effect != abi.EffectWrite || !plan.Repeatable {
		t.Fatalf("%+v, %v", plan, err)
	}
	first, err := plan.Do(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.RequestURI != "/a%2Fb?x=1" || string(body) != "hello" || got.Header.Get("Content-Type") != "text/plain" ||
		got.Header.Get("Idempotency-Key") != "idem-1" || got.UserAgent() != "wharf/test" {
		t.Errorf("the server got %s %v %q", got.RequestURI, got.Header, body)
	}
	var answer abi.CallHTTPFetchAnswer
	if err := json.Unmarshal(first, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Status != 418 || answer.Text != "short and stout" || answer.Body != nil || answer.BytesSent != 5 ||
		answer.URL != "http://"+host+"/a%2Fb?x=1" || answer.Header["x-two"] != "a, b" || answer.Header["set-cookie"] != "a=1, x\nb=2" {
		t.Errorf("got %+v", answer)
	}
	names := slices.Collect(maps.Keys(answer.Header))
	if slices.ContainsFunc(names, func(n string) bool { return n != strings.ToLower(n) }) {
		t.Errorf("the names of headers are %v", names)
	}
}

func TestWhatARequestIs(t *testing.T) {
	w := newWeb(t, Config{}, Grant{Hosts: []string{"a.test"}, Methods: []string{"GET", "HEAD", "PUT"}})
	for _, test := range []struct {
		method, key string
		effect      abi.Effect
		repeatable  bool
	}{
		{"", "", abi.EffectRead, false}, {"HEAD", "X-Key", abi.EffectRead, false},
		{"PUT", "", abi.EffectWrite, false}, {"PUT", "X-Key", abi.EffectWrite, true},
	} {
		plan, err := prepare(t, w, abi.CallHTTPFetchRequest{Method: test.method, URL: "http://a.test", IdempotencyHeader: test.key})
		if err != nil || plan.Effect != test.effect || plan.Repeatable != test.repeatable {
			t.Errorf("%q with %q is %+v, %v", test.method, test.key, plan, err)
		}
	}
}

func TestBytesThatAreNoTextComeAsBytes(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0xff, 0, 'x'}) })
	answer, _, err := fetch(t, newWeb(t, Config{}, here(host)), abi.CallHTTPFetchRequest{URL: "http://" + host})
	if err != nil || !bytes.Equal(answer.Body, []byte{0xff, 0, 'x'}) || answer.Text != "" {
		t.Errorf("got %+v, %v", answer, err)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	w := newWeb(t, Config{Request: 10}, Grant{Hosts: []string{"a.test", "*.b.test", "p.test:8080", "[2606:4700::1]"}, Methods: []string{"GET", "POST"}},
		Grant{Hosts: []string{"other.test"}})
	type fetch = abi.CallHTTPFetchRequest
	ok := "http://a.test/"
	many := map[string]string{}
	for i := range maxHeaders + 1 {
		many[fmt.Sprintf("x-%d", i)] = ""
	}
	for name, test := range map[string]struct {
		req    fetch
		status abi.CallStatus
		want   string
	}{
		"allowed":              {fetch{URL: ok}, abi.CallOK, ""},
		"any case":             {fetch{URL: "http://A.TEST./"}, abi.CallOK, ""},
		"below a suffix":       {fetch{URL: "https://x.y.b.test/"}, abi.CallOK, ""},
		"its port":             {fetch{URL: "http://p.test:8080/"}, abi.CallOK, ""},
		"address":              {fetch{URL: "https://[2606:4700:0::1]/"}, abi.CallOK, ""},
		"the suffix itself":    {fetch{URL: "http://b.test/"}, abi.CallDenied, "no entry of grants.p.http has the host"},
		"ends alike":           {fetch{URL: "http://evilb.test/"}, abi.CallDenied, "has the host"},
		"another host":         {fetch{URL: "http://c.test/"}, abi.CallDenied, `"p" may not send requests to c.test`},
		"another port":         {fetch{URL: "http://a.test:81/"}, abi.CallDenied, "a.test:81"},
		"no port":              {fetch{URL: "http://p.test/"}, abi.CallDenied, "has the host"},
		"method":               {fetch{URL: ok, Method: "DELETE"}, abi.CallDenied, "has the host and the method"},
		"method of the host":   {fetch{URL: "http://other.test/", Method: "POST"}, abi.CallDenied, "has the host and the method"},
		"lower case":           {fetch{URL: ok, Method: "post"}, abi.CallInvalid, "capitals"},
		"connect":              {fetch{URL: ok, Method: "CONNECT"}, abi.CallInvalid, "CONNECT"},
		"no URL":               {fetch{}, abi.CallInvalid, "neither http"},
		"file":                 {fetch{URL: "file:///etc/passwd"}, abi.CallInvalid, "neither http"},
		"user":                 {fetch{URL: "http://a.test@c.test/"}, abi.CallInvalid, "user or password"},
		"malformed":            {fetch{URL: "http://a.test/%zz"}, abi.CallInvalid, "malformed"},
		"not ASCII":            {fetch{URL: "http://ä.test/"}, abi.CallInvalid, "ASCII"},
		"long URL":             {fetch{URL: ok + strings.Repeat("x", maxURL)}, abi.CallTooLarge, "URL"},
		"host header":          {fetch{URL: ok, Header: map[string]string{"host": "c.test"}}, abi.CallInvalid, "Host is the host's"},
		"length":               {fetch{URL: ok, Header: map[string]string{"CONTENT-length": "3"}}, abi.CallInvalid, "Content-Length"},
		"connection":           {fetch{URL: ok, Header: map[string]string{"Connection": "x"}}, abi.CallInvalid, "Connection"},
		"chunks":               {fetch{URL: ok, Header: map[string]string{"Transfer-Encoding": "chunked"}}, abi.CallInvalid, "Transfer-Encoding"},
		"bad name":             {fetch{URL: ok, Header: map[string]string{"a b": "x"}}, abi.CallInvalid, "no name"},
		"second line":          {fetch{URL: ok, Header: map[string]string{"a": "x\r\nHost: y"}}, abi.CallInvalid, "characters"},
		"twice":                {fetch{URL: ok, Header: map[string]string{"a": "x", "A": "y"}}, abi.CallInvalid, "twice"},
		"many":                 {fetch{URL: ok, Header: many}, abi.CallTooLarge, "101 headers"},
		"large":                {fetch{URL: ok, Header: map[string]string{"a": strings.Repeat("x", maxHeader)}}, abi.CallTooLarge, "headers have"},
		"key twice":            {fetch{URL: ok, Header: map[string]string{"key": "x"}, IdempotencyHeader: "Key"}, abi.CallInvalid, "has a value already"},
		"key in Host":          {fetch{URL: ok, IdempotencyHeader: "Host"}, abi.CallInvalid, "the host's to write"},
		"two bodies":           {fetch{URL: ok, Text: "a", Body: []byte("b")}, abi.CallInvalid, "both"},
		"large body":           {fetch{URL: ok, Text: "12345678901"}, abi.CallTooLarge, "11 bytes"},
		"timeout":              {fetch{URL: ok, TimeoutMS: -1}, abi.CallInvalid, "-1 ms"},
		"overflow":             {fetch{URL: ok, TimeoutMS: 1 << 62}, abi.CallInvalid, "is none"},
		"secret in the path":   {fetch{URL: ok + "{{secret:key}}"}, abi.CallInvalid, "headers or the query"},
		"secret in the clear":  {fetch{URL: ok + "?k={{secret:key}}"}, abi.CallDenied, "over https"},
		"secret":               {fetch{URL: "https://a.test/?k={{secret:key}}"}, abi.CallOK, ""},
		"ungranted secret":     {fetch{URL: "https://a.test/?k={{secret:ungranted}}"}, abi.CallDenied, "grants.p.secrets"},
		"escaped handle":       {fetch{URL: "https://a.test/?k=" + url.QueryEscape("{{secret:ungranted}}")}, abi.CallDenied, "grants.p.secrets"},
		"secret of another":    {fetch{URL: "https://a.test/", Header: map[string]string{"a": "{{secret:bound}}"}}, abi.CallDenied, "secrets.bound.hosts"},
		"secret for this host": {fetch{URL: "https://other.test/", Header: map[string]string{"a": "{{secret:bound}}"}}, abi.CallOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prepare(t, w, test.req)
			if test.status != abi.CallOK {
				refused(t, err, test.status, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("no grants at all", func(t *testing.T) {
		_, err := w.Prepare(t.Context(), &provider.Call{Plugin: "q", Request: []byte(`{"url":"http://a.test/"}`)})
		refused(t, err, abi.CallDenied, "grants.q.http")
	})
	t.Run("no JSON", func(t *testing.T) {
		_, err := w.Prepare(t.Context(), &provider.Call{Plugin: "p", Request: []byte(`{`)})
		refused(t, err, abi.CallInvalid, "cannot be read")
	})
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]struct{ public, private bool }{
		"8.8.8.8": {true, true}, "2606:4700::1111": {true, true}, "::ffff:8.8.8.8": {true, true}, "64:ff9b::808:808": {true, true},
		"127.0.0.1": {false, true}, "127.255.1.2": {false, true}, "::1": {false, true}, "::ffff:127.0.0.1": {false, true},
		"10.1.2.3": {false, true}, "172.16.0.1": {false, true}, "172.31.255.255": {false, true}, "172.32.0.1": {true, true},
		"192.168.1.1": {false, true}, "100.64.0.1": {false, true}, "169.254.169.254": {false, true}, "fe80::1": {false, true},
		"fe80::1%eth0": {false, true}, "fd00:ec2::254": {false, true}, "fec0::1": {false, true},
		"::7f00:1": {false, true}, "64:ff9b::7f00:1": {false, true}, "64:ff9b::a00:1": {false, true}, "2002:7f00:1::": {false, true},
		"2002:c0a8:101::1": {false, true}, "::ffff:0:a00:1": {false, true}, "2a00::5efe:a00:1": {false, true}, "2a00::200:5efe:a00:1": {false, true},
		"0.0.0.0": {}, "0.1.2.3": {}, "::": {}, "224.0.0.1": {}, "ff02::1": {}, "255.255.255.255": {}, "240.0.0.1": {}, "192.0.2.1": {},
		"64:ff9b:1::1": {}, "2001::1": {}, "2001:db8::1": {}, "2002:e000:1::": {}, "::ffff:0.0.0.0": {},
	} {
		a := netip.MustParseAddr(address)
		if got := CheckAddress(a, false) == nil; got != want.public {
			t.Errorf("%s is public: %t", address, got)
		}
		if got := CheckAddress(a, true) == nil; got != want.private {
			t.Errorf("%s can be granted: %t", address, got)
		}
	}
}

func TestPrivateAddressesNeedAGrant(t *testing.T) {
	asked := false
	host := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	_, port, _ := net.SplitHostPort(host)
	for _, name := range []string{host, "[::ffff:127.0.0.1]:" + port, "localhost:" + port} {
		w := newWeb(t, Config{}, Grant{Hosts: []string{name}})
		_, _, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://" + name})
		refused(t, err, abi.CallDenied, "has a loopback address")
	}
	if asked {
		t.Error("the server was asked")
	}
}

func TestAGrantOfPrivateAddressesIsNotInheritedWithItsConnection(t *testing.T) {
	host := serve(t, func(http.ResponseWriter, *http.Request) {})
	w := newWeb(t, Config{}, here(host))
	w.config.Grants["q"] = []Grant{{Hosts: []string{host}}}
	if _, _, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://" + host}); err != nil {
		t.Fatal(err)
	}
	plan, err := w.Prepare(t.Context(), &provider.Call{Plugin: "q", Request: []byte(`{"url":"http://` + host + `"}`)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = plan.Do(t.Context(), nil)
	refused(t, err, abi.CallDenied, "has a loopback address")
}

// nameServer answers questions for A records over UDP: with the next of the
// addresses of the name, the last of them for good. It returns a resolver that
// asks it.
func nameServer(t *testing.T, names map[string][]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		query := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(query)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(answerQuery(query[:n], names), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answerQuery writes the answer to a DNS query (RFC 1035, 4.1).
func answerQuery(query []byte, names map[string][]string) []byte {
	var labels []string
	at := 12
	for query[at] != 0 {
		labels = append(labels, string(query[at+1:at+1+int(query[at])]))
		at += 1 + int(query[at])
	}
	kind := binary.BigEndian.Uint16(query[at+1:])
	name := strings.Join(labels, ".")
	header := []byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}
	answer := append(header, query[12:at+5]...)
	addresses := names[name]
	if kind != 1 || len(addresses) == 0 {
		return answer
	}
	if len(addresses) > 1 {
		names[name] = addresses[1:]
	}
	answer[7] = 1
	answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
	ip := netip.MustParseAddr(addresses[0]).As4()
	return append(answer, ip[:]...)
}

func TestANameThatLeadsElsewhereTheSecondTime(t *testing.T) {
	asked := false
	host := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	_, port, _ := net.SplitHostPort(host)
	w := newWeb(t, Config{Resolver: nameServer(t, map[string][]string{"rebind.test": {"8.8.8.8", "127.0.0.1"}})},
		Grant{Hosts: []string{"rebind.test:" + port}})
	stop := errors.New("far enough")
	w.reached = func(a netip.AddrPort) error {
		if a.Addr().String() != "8.8.8.8" {
			t.Errorf("%s was let through", a)
		}
		return stop
	}
	request := abi.CallHTTPFetchRequest{URL: "http://rebind.test:" + port}
	_, _, err := fetch(t, w, request)
	refused(t, err, abi.CallUnavailable, "far enough")
	_, _, err = fetch(t, w, request)
	refused(t, err, abi.CallDenied, "has a loopback address")
	if asked || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("the server was asked: %t; %v", asked, err)
	}
}

func TestANameThatLeadsNowhere(t *testing.T) {
	w := newWeb(t, Config{Resolver: nameServer(t, nil)}, Grant{Hosts: []string{"nowhere.test"}})
	_, _, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://nowhere.test"})
	refused(t, err, abi.CallUnavailable, "leads nowhere")
}

func TestRedirects(t *testing.T) {
	var seen []string
	var mu sync.Mutex
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen = append(seen, r.Method+" "+r.URL.Path+" "+string(body)+r.Header.Get("Content-Type"))
		mu.Unlock()
		if to := r.URL.Query().Get("to"); to != "" {
			status := http.StatusFound
			_, _ = fmt.Sscan(r.URL.Query().Get("status"), &status)
			http.Redirect(w, r, to, status)
		}
	})
	_, port, _ := net.SplitHostPort(host)
	w := newWeb(t, Config{}, here(host, "GET", "POST", "PUT"), Grant{Hosts: []string{"localhost:" + port}})
	type step struct {
		status int
		method string
		want   string
	}
	for _, s := range []step{
		{301, "POST", "GET /end "}, {302, "POST", "GET /end "}, {303, "PUT", "GET /end "},
		{302, "PUT", "PUT /end bodya/b"}, {307, "POST", "POST /end bodya/b"}, {308, "POST", "POST /end bodya/b"},
	} {
		seen = nil
		answer, _, err := fetch(t, w, abi.CallHTTPFetchRequest{Method: s.method, Text: "body",
			Header: map[string]string{"Content-Type": "a/b"}, URL: fmt.Sprintf("http://%s/start?status=%d&to=/end", host, s.status)})
		if err != nil || len(seen) != 2 || seen[1] != s.want || answer.URL != "http://"+host+"/end" {
			t.Errorf("%d after %s: %q, %+v, %v", s.status, s.method, seen, answer, err)
		}
	}
	for _, test := range []struct {
		to, want string
		status   abi.CallStatus
	}{
		{"http://127.0.0.1:1/", "may not send requests to 127.0.0.1:1", abi.CallDenied},
		{"http://localhost:" + port + "/", "localhost:" + port + ": no entry of grants.p.http has the host and the method", abi.CallDenied},
		{"file:///etc/passwd", "to where no request can go", abi.CallDenied},
		{"http://u:p@" + host, "user or password", abi.CallDenied},
		{"/start?status=307&to=/start%3Fstatus%3D307", "", abi.CallOK},
	} {
		_, _, err := fetch(t, w, abi.CallHTTPFetchRequest{Method: "PUT", URL: "http://" + host + "/start?to=" + url.QueryEscape(test.to)})
		if test.status == abi.CallOK {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		refused(t, err, test.status, test.want)
	}
	_, _, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://" + host + "/?to=" + url.QueryEscape("http://localhost:"+port+"/")})
	refused(t, err, abi.CallDenied, "has a loopback address")
}

func TestRedirectsEnd(t *testing.T) {
	hops := 0
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hops++
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	_, _, err := fetch(t, newWeb(t, Config{}, here(host)), abi.CallHTTPFetchRequest{URL: "http://" + host})
	refused(t, err, abi.CallTooLarge, "more than 10 times")
	if hops != maxRedirects+1 {
		t.Errorf("%d requests", hops)
	}
}

// echo answers with whatever it was sent, in as many encodings as it can think of.
func echo(w http.ResponseWriter, r *http.Request) {
	sent := r.Header.Get("Authorization") + r.URL.Query().Get("k")
	w.Header().Set("X-Echo", sent)
	w.Header().Set("X-Query", r.URL.RawQuery)
	quoted, _ := json.Marshal(sent)
	fmt.Fprintf(w, "%s|%s|%s|%s|%s", sent, quoted, url.QueryEscape(sent), r.URL.RawQuery,
		base64.StdEncoding.EncodeToString([]byte(canary)))
}

func leaks(text string) bool {
	return strings.Contains(text, "s3cr3t") || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(canary)))
}

func TestSecretsReachTheHostAndNothingElse(t *testing.T) {
	var header, query string
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header, query = r.Header.Get("Authorization"), r.URL.Query().Get("k")
		echo(w, r)
	})
	w := newWeb(t, Config{}, here(host))
	for _, handle := range []string{"{{secret:key}}", url.QueryEscape("{{secret:key}}")} {
		answer, raw, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://" + host + "/?k=" + handle,
			Header: map[string]string{"Authorization": "Bearer {{secret:key}}"}})
		if err != nil || header != "Bearer "+canary || query != canary {
			t.Fatalf("the server got %q and %q (%v)", header, query, err)
		}
		if leaks(string(raw)) || !strings.HasPrefix(answer.Text, "Bearer {{secret:key}}{{secret:key}}|") ||
			answer.Header["x-echo"] != "Bearer {{secret:key}}{{secret:key}}" {
			t.Errorf("the plugin gets %s", raw)
		}
	}
}

func TestSecretsAreFoundInCompressedAnswers(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Error("the answer may not be compressed")
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(r.Header.Get("Authorization")))
		_ = z.Close()
	})
	answer, raw, err := fetch(t, newWeb(t, Config{}, here(host)), abi.CallHTTPFetchRequest{URL: "http://" + host,
		Header: map[string]string{"Authorization": "{{secret:key}}"}})
	if err != nil || answer.Text != "{{secret:key}}" || leaks(string(raw)) {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestSecretsDoNotFollowARedirectToAnotherHost(t *testing.T) {
	var got http.Header
	var uri string
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { got, uri = r.Header, r.RequestURI })
	to := ""
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+other+to+"?k="+url.QueryEscape(r.URL.Query().Get("k")), http.StatusTemporaryRedirect)
	})
	w := newWeb(t, Config{}, here(host), here(other))
	request := abi.CallHTTPFetchRequest{URL: "http://" + host + "/?k={{secret:key}}", Header: map[string]string{
		"Authorization": "Bearer mine", "X-Key": "{{secret:key}}", "X-Plain": "stays"}}
	_, raw, err := fetch(t, w, request)
	if err != nil || got == nil {
		t.Fatal(err)
	}
	if got.Get("Authorization") != "" || got.Get("X-Key") != "" || got.Get("X-Plain") != "stays" || leaks(uri) || leaks(string(raw)) {
		t.Errorf("the other host got %s %v; the plugin %s", uri, got, raw)
	}
	to = "/" + url.PathEscape(canary) // in the path a value cannot be taken out of the request
	got = nil
	_, _, err = fetch(t, w, request)
	refused(t, err, abi.CallDenied, "to where no request can go")
	if got != nil || leaks(err.Error()) {
		t.Errorf("the other host was asked: %v", err)
	}
}

func TestSecretsStayOverARedirectOnTheSameHost(t *testing.T) {
	var got string
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/next?"+r.URL.RawQuery, http.StatusFound)
			return
		}
		got = r.Header.Get("X-Key") + " " + r.URL.Query().Get("k")
	})
	answer, _, err := fetch(t, newWeb(t, Config{}, here(host)), abi.CallHTTPFetchRequest{URL: "http://" + host + "/?k={{secret:key}}",
		Header: map[string]string{"X-Key": "{{secret:key}}"}})
	if err != nil || got != canary+" "+canary || leaks(answer.URL) {
		t.Errorf("the host got %q, the plugin %s (%v)", got, answer.URL, err)
	}
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	dead := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_, _ = conn.Write([]byte(r.Header.Get("X-Key") + " is no answer\r\n\r\n"))
		_ = conn.Close()
	}))
	defer dead.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := free.Addr().String()
	free.Close()
	for _, host := range []string{gone, strings.TrimPrefix(dead.URL, "http://")} {
		_, _, err := fetch(t, newWeb(t, Config{}, here(host)), abi.CallHTTPFetchRequest{URL: "http://" + host + "/?k={{secret:key}}",
			Header: map[string]string{"X-Key": "{{secret:key}}"}})
		refused(t, err, abi.CallUnavailable, "did not answer")
		if leaks(err.Error()) {
			t.Errorf("got %v", err)
		}
	}
	w := newWeb(t, Config{}, here(gone))
	for name, want := range map[string]string{"unset": "cannot be read now", "lines": "no header may have"} {
		_, _, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://" + gone, Header: map[string]string{"a": "{{secret:" + name + "}}"}})
		refused(t, err, abi.CallUnavailable, want)
	}
}

func TestAnswersHaveLimits(t *testing.T) {
	const limit = 100_000
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		out := io.Writer(w)
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			out = z
		case "/header":
			w.Header().Set("X-Large", strings.Repeat("x", 2*maxHeader))
			return
		case "/fits":
			_, _ = out.Write(make([]byte, limit))
			return
		}
		for range 1000 { // until the client has had enough
			if _, err := out.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	w := newWeb(t, Config{Response: limit}, here(host))
	for _, path := range []string{"/endless", "/bomb"} {
		_, _, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://" + host + path})
		refused(t, err, abi.CallTooLarge, "longer than 100000 bytes")
	}
	_, _, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://" + host + "/header"})
	refused(t, err, abi.CallUnavailable, "header")
	if answer, _, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://" + host + "/fits"}); err != nil || len(answer.Text) != limit {
		t.Errorf("%d bytes, %v", len(answer.Text), err)
	}
}

func TestSlowHosts(t *testing.T) {
	release := make(chan struct{})
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = w.Write([]byte("a beginning"))
			w.(http.Flusher).Flush()
		}
		<-release
	})
	defer close(release)
	w := newWeb(t, Config{}, here(host))
	for _, path := range []string{"/", "/body"} {
		_, _, err := fetch(t, w, abi.CallHTTPFetchRequest{URL: "http://" + host + path, TimeoutMS: 20})
		refused(t, err, abi.CallTimeout, "within 20ms")
	}
	plan, err := prepare(t, w, abi.CallHTTPFetchRequest{URL: "http://" + host})
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("the task was canceled")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := plan.Do(ctx, nil); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	if _, _, err := fetch(t, newWeb(t, Config{Timeout: 20 * time.Millisecond}, here(host)),
		abi.CallHTTPFetchRequest{URL: "http://" + host, TimeoutMS: 3_600_000}); err == nil || !strings.Contains(err.Error(), "within 20ms") {
		t.Errorf("the node's limit does not hold: %v", err)
	}
}

func TestTheEnvironmentsProxyIsNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	host := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("direct")) })
	if answer, _, err := fetch(t, newWeb(t, Config{}, here(host)), abi.CallHTTPFetchRequest{URL: "http://" + host}); err != nil || answer.Text != "direct" {
		t.Errorf("got %+v, %v", answer, err)
	}
}

func TestHTTPS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(echo))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "https://")
	_, _, err := fetch(t, newWeb(t, Config{}, here(host)), abi.CallHTTPFetchRequest{URL: s.URL})
	refused(t, err, abi.CallUnavailable, "certificate")
	trusting := s.Client().Transport.(*http.Transport).TLSClientConfig
	if answer, _, err := fetch(t, newWeb(t, Config{TLS: trusting}, here(host)), abi.CallHTTPFetchRequest{URL: s.URL}); err != nil || answer.Status != 200 {
		t.Errorf("got %+v, %v", answer, err)
	}
}

// FuzzPrepare holds that nothing in a request makes the host fail, and that what
// is let through goes to a granted host.
func FuzzPrepare(f *testing.F) {
	for _, seed := range []string{
		`{"url":"http://a.test/"}`, `{"url":"http://a.test:80@b.test/"}`, `{"url":"http://a.test\\@b.test/"}`, `{"url":"http://[::1]/"}`,
		`{"url":"https://x.b.test:443/?k={{secret:key}}","method":"GET","header":{"A":"{{secret:key}}"}}`,
		`{"url":"http://a.test%2f@c/","timeout_ms":9223372036854775807}`, `{"url":"HTTP://A.TEST.:080/"}`,
	} {
		f.Add([]byte(seed))
	}
	w := New(Config{Grants: map[string][]Grant{"p": {{Hosts: []string{"a.test", "*.b.test"}}}}})
	f.Fuzz(func(t *testing.T, request []byte) {
		_, err := w.Prepare(context.Background(), &provider.Call{Plugin: "p", Request: request})
		if err != nil {
			if _, ok := errors.AsType[*provider.Refusal](err); !ok {
				t.Errorf("the host failed: %v", err)
			}
			return
		}
		var asked abi.CallHTTPFetchRequest
		if err := json.Unmarshal(request, &asked); err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest("GET", asked.URL, nil)
		if err != nil {
			return
		}
		name := strings.TrimSuffix(strings.ToLower(req.URL.Hostname()), ".")
		if name != "a.test" && !strings.HasSuffix(name, ".b.test") {
			t.Errorf("%q goes to %q", asked.URL, name)
		}
	})
}

// An answer in which secrets cannot be found is not passed on, if there was one in the
// request: Go unpacks nothing when the plugin has set Range.
func TestEncodedAnswersToSecretsAreRefused(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(r.Header.Get("Authorization")))
		_ = z.Close()
	})
	for secret, refused := range map[string]bool{"{{secret:key}}": true, "none": false} {
		_, raw, err := fetch(t, newWeb(t, Config{}, here(host)), abi.CallHTTPFetchRequest{URL: "http://" + host,
			Header: map[string]string{"Authorization": secret, "Range": "bytes=0-"}})
		if (err != nil) != refused {
			t.Errorf("%s: got %s, %v", secret, raw, err)
		}
	}
}

// A tenant whose plugins call a host that never answers has so many connections to it at
// most, and another tenant's call to the same host goes through.
func TestAHostThatNeverAnswers(t *testing.T) {
	asked, over := make(chan struct{}, 100), make(chan struct{})
	defer close(over)
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			asked <- struct{}{}
			select {
			case <-over:
			case <-r.Context().Done():
			}
		}
	})
	w := newWeb(t, Config{}, here(host, "GET"))
	w.lanes = provider.NewLanes(3)
	do := func(ctx context.Context, tenant, path string) error {
		raw, _ := json.Marshal(abi.CallHTTPFetchRequest{URL: "http://" + host + path})
		plan, err := w.Prepare(ctx, &provider.Call{Name: abi.CallHTTPFetch, Request: raw, Plugin: "p", Tenant: tenant})
		if err != nil {
			t.Error(err)
			return err
		}
		_, err = plan.Do(ctx, func(string) {})
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() { _ = do(ctx, "greedy", "/never") })
	}
	for range 3 {
		<-asked
	}
	if err := do(t.Context(), "modest", "/now"); err != nil {
		t.Error(err)
	}
	if len(asked) != 0 {
		t.Errorf("%d connections too many", len(asked))
	}
	cancel()
	calls.Wait()
}
