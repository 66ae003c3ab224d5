package web_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider/web"
)

// What callers give as the URL of a server of their own is refused before anything is written.
func TestURLsOfServers(t *testing.T) {
	for url, wrong := range map[string]string{
		"https://example.com":                   "",
		"HTTPS://Example.com:8443/a?b=c":        "",
		"http://203.0.112.1/x":                  "",
		"http://[2600::1]/":                     "",
		"":                                      "absolute",
		" https://example.com":                  "absolute",
		"example.com/a":                         "absolute",
		"//example.com/a":                       "absolute",
		"https:example.com":                     "absolute",
		"https://":                              "absolute",
		"ftp://example.com":                     "absolute",
		"https://example.com/\x7f":              "absolute",
		"https://a:b@example.com":               "user",
		"https://@example.com":                  "user",
		"https://example.com/#x":                "fragment",
		"https://127.0.0.1/":                    "loopback",
		"https://[::ffff:127.0.0.1]/":           "loopback",
		"https://[fe80::1%25eth0]/":             "link-local",
		"https://0.0.0.0/":                      "unspecified",
		"https://x/" + strings.Repeat("a", 4e3): "long",
	} {
		err := web.CheckURL(url, false)
		if wrong == "" && err == nil {
			continue
		}
		refused, ok := errors.AsType[*abi.Error](err)
		if !ok || wrong == "" || !strings.Contains(err.Error(), wrong) || refused.Param != "url" {
			t.Errorf("%.60q: %v, %+v; want %q", url, err, refused, wrong)
		}
	}
	if err := web.CheckURL("http://127.0.0.1:1/", true); err != nil {
		t.Errorf("granted: %v", err)
	}
	if err := web.CheckURL("http://0.0.0.0/", true); err == nil {
		t.Error("no grant leads to 0.0.0.0")
	}
}
