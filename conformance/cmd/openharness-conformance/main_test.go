package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/openharness"
)

// A server that has a manifest, and nothing else.
func server(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/wharf/capabilities"):
			_, _ = io.WriteString(w, `{"version":"1.0.0","capabilities":{"hooks":{"supported":true},"memory":{"supported":false}}}`)
		case strings.Contains(r.URL.Path, "/memory"):
			w.WriteHeader(501)
			_, _ = io.WriteString(w, `{"error":{"code":"CAPABILITY_NOT_SUPPORTED","message":"no"}}`)
		default:
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"error":{"code":"NOT_FOUND","message":"no"}}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestExitCodes(t *testing.T) {
	at := server(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		args []string
		exit int
	}{
		"what is right":              {[]string{"--only", "hooks.get.unknown"}, exitConforms},
		"what is not":                {[]string{"--only", "hooks.get"}, exitBroken},
		"outside of the golden rule": {[]string{"--only", "registry.auth.missing"}, exitConforms},
		"the same, strictly":         {[]string{"--only", "registry.auth.missing", "--strict"}, exitBroken},
		"what it does not support":   {[]string{"--only", "memory.", "--strict"}, exitConforms},
		"another harness":            {[]string{"--harness", "none"}, exitUnusable},
		"nobody answers":             {[]string{"--server", gone.URL}, exitUnusable},
		"no key":                     {[]string{"--api-key", ""}, exitUnusable},
		"an argument too many":       {[]string{"extra"}, exitUnusable},
		"no check":                   {[]string{"--only", "nothing"}, exitUnusable},
	} {
		t.Run(name, func(t *testing.T) {
			exit, err := run(t.Context(), append([]string{"--server", at, "--api-key", "k"}, c.args...), io.Discard)
			if exit != c.exit || (err != nil) != (exit == exitUnusable) {
				t.Errorf("exit %d (%v), want %d", exit, err, c.exit)
			}
		})
	}
	var out bytes.Buffer
	if _, err := run(t.Context(), []string{"--server", at, "--api-key", "k", "--json", "--only", "hooks.get"}, &out); err != nil {
		t.Fatal(err)
	}
	var report openharness.Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || len(report.Results) != 2 || report.Passed != 1 || report.Violations != 1 {
		t.Errorf("the JSON report has %d results (%v):\n%s", len(report.Results), err, &out)
	}
}
