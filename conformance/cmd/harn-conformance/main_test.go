package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance"
)

func TestExitCodes(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>It works!</html>")
	}))
	defer page.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		args []string
		exit int
	}{
		"a page that answers 200":     {[]string{"--server", page.URL, "--api-key", "k", "--workspace", "w", "--only", "version.public"}, exitConforms},
		"a page that is no server":    {[]string{"--server", page.URL, "--api-key", "k", "--workspace", "w", "--only", "version"}, exitBroken},
		"a SHOULD that is not kept":   {[]string{"--server", page.URL, "--api-key", "k", "--workspace", "w", "--only", "version.lists"}, exitConforms},
		"the same, strictly":          {[]string{"--server", page.URL, "--api-key", "k", "--workspace", "w", "--only", "version.lists", "--strict"}, exitBroken},
		"no Workspace to be found":    {[]string{"--server", page.URL, "--api-key", "k"}, exitUnusable},
		"nobody answers":              {[]string{"--server", gone.URL, "--api-key", "k"}, exitUnusable},
		"no key":                      {[]string{"--server", page.URL, "--api-key", ""}, exitUnusable},
		"a URL that is none":          {[]string{"--server", "localhost", "--api-key", "k"}, exitUnusable},
		"a level that is not there":   {[]string{"--server", page.URL, "--api-key", "k", "--level", "none"}, exitUnusable},
		"an argument too many":        {[]string{"extra"}, exitUnusable},
		"a check that does not exist": {[]string{"--server", page.URL, "--api-key", "k", "--workspace", "w", "--only", "nothing"}, exitUnusable},
	} {
		t.Run(name, func(t *testing.T) {
			exit, err := run(t.Context(), c.args, io.Discard)
			if exit != c.exit || (err != nil) != (exit == exitUnusable) {
				t.Errorf("exit %d (%v), want %d", exit, err, c.exit)
			}
		})
	}
	var out bytes.Buffer
	if _, err := run(t.Context(), []string{"--server", page.URL, "--api-key", "k", "--workspace", "w", "--json", "--only", "version"}, &out); err != nil {
		t.Fatal(err)
	}
	var report conformance.Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || len(report.Results) != 4 || report.Passed != 1 {
		t.Errorf("the JSON report has %d results (%v):\n%s", len(report.Results), err, &out)
	}
}
