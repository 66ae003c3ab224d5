package gateway_test

import (
	"testing"

	"github.com/wharf-dev/wharf/gateway"
)

// TestCORS asks as browsers do, for pages that may read answers and others.
func TestCORS(t *testing.T) {
	const page, stranger = "https://app.example.com", "https://example.org"
	none, some, all := serve(t, rest{}), serveAs(t, gateway.Config{CORSOrigins: []string{page, "null"}}, rest{}), serveAs(t, gateway.Config{CORSOrigins: []string{"*"}}, rest{})
	const asked = "Host: x\r\nConnection: close\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,content-type\r\n"
	const sent = "Host: x\r\nConnection: close\r\nContent-Length: 2\r\n"
	for what, test := range map[string]struct {
		addr, origin, allowed string
	}{
		"without the setting":  {none, page, ""},
		"a page that may":      {some, page, page},
		"in capitals":          {some, "HTTPS://APP.example.com", "HTTPS://APP.example.com"},
		"a page without one":   {some, "null", "null"},
		"a stranger's":         {some, stranger, ""},
		"one that begins so":   {some, page + ".example.org", ""},
		"on another port":      {some, page + ":8443", ""},
		"without TLS":          {some, "http://app.example.com", ""},
		"two origins":          {some, page + "\r\nOrigin: " + page, ""},
		"an empty one":         {some, "", ""},
		"where all may":        {all, stranger, stranger},
		"two where all may":    {all, stranger + "\r\nOrigin: " + page, ""},
		"nobody where all may": {all, "", ""},
	} {
		head := "Origin: " + test.origin + "\r\n"
		if test.origin == "" {
			head = ""
		}
		before, _ := ask(t, test.addr, "OPTIONS /v1/tasks HTTP/1.1\r\n"+head+asked+"\r\n")
		refused, _ := ask(t, test.addr, "POST /v1/tasks HTTP/1.1\r\n"+head+sent+"\r\n{}")
		missing, _ := ask(t, test.addr, "GET /nothing HTTP/1.1\r\n"+head+"Host: x\r\nConnection: close\r\n\r\n")
		if refused.StatusCode != 401 || missing.StatusCode != 404 || before.StatusCode != 204 {
			t.Fatalf("%s: %d, %d and %d", what, before.StatusCode, refused.StatusCode, missing.StatusCode)
		}
		for _, answer := range []string{before.Header.Get("Access-Control-Allow-Origin"), refused.Header.Get("Access-Control-Allow-Origin"), missing.Header.Get("Access-Control-Allow-Origin")} {
			if answer != test.allowed {
				t.Errorf("%s: the origin %q is allowed", what, answer)
			}
		}
		headers := "authorization,content-type"
		if test.allowed == "" {
			headers = ""
		}
		if got := before.Header.Get("Access-Control-Allow-Headers"); got != headers {
			t.Errorf("%s: the headers %q are allowed", what, got)
		}
		if got := refused.Header.Get("Access-Control-Allow-Credentials"); got != "" {
			t.Errorf("%s: credentials that a browser adds are allowed: %s", what, got)
		}
		if varies := refused.Header.Get("Vary") == "Origin"; varies != (test.addr != none) {
			t.Errorf("%s: Vary is %q", what, refused.Header.Get("Vary"))
		}
	}
}
