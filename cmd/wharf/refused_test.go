package main

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestEveryProtocolIsRefused asks a node whose disk has less than its reserve for work by every protocol: each answers in its
// own words that the disk is nearly full.
func TestEveryProtocolIsRefused(t *testing.T) {
	t.Setenv("WHARF_STORAGE_RESERVE", "1TiB")
	data := filepath.Join(t.TempDir(), "data")
	node := serveFolder(t, data)
	if code := mustAsk(t, node.url, "GET", "/readyz", "", "", nil).StatusCode; code == http.StatusOK {
		t.Skip("the disk of this machine has more than 1 TiB free")
	}
	const version = "Harn-Agents-Protocol-Version"
	begun := mustAsk(t, node.url, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, "",
		map[string]string{"Accept": "application/json, text/event-stream"})
	session := map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Session-Id": begun.Header.Get("Mcp-Session-Id")}
	for name, c := range map[string]struct {
		path, body string
		header     map[string]string
		status     int
	}{
		"REST":         {"/v1/workspaces", `{"name":"x"}`, map[string]string{version: "agents-protocol-2026-04-25"}, 503},
		"A2A":          {"/a2a", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`, map[string]string{"A2A-Version": "1.0"}, 503},
		"Open Harness": {"/v1/harnesses/wharf/execute", `{"message":"x"}`, nil, 503},
		"MCP":          {"/mcp", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`, session, 200},
	} {
		t.Run(name, func(t *testing.T) {
			resp := mustAsk(t, node.url, "POST", c.path, c.body, "disk is nearly full", c.header)
			if resp.StatusCode != c.status || c.status == 503 && resp.Header.Get("Retry-After") == "" {
				t.Errorf("the status is %d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
			}
		})
	}
	if code := node.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("the node ended with %d", code)
	}
}

// mustAsk makes a request, and holds something that its answer has.
func mustAsk(t *testing.T, node, method, path, body, has string, header map[string]string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, node+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(text), has) {
		t.Errorf("%s: %v: %s", path, err, text)
	}
	return resp
}
