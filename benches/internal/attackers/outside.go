package attackers

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Outside is all that a node asks of others, in hostile hands: a provider of models, a
// server of tools, an issuer of tokens.
type Outside struct{ server *httptest.Server }

// NewOutside starts it. The caller closes it.
func NewOutside() *Outside {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /openai/v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"x"}}`, `,{}`, 10_000_000, `]}`)
	})
	mux.HandleFunc("POST /anthropic/v1/messages", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, `{"id":"m","type":"message","role":"assistant","model":"small","content":[{"type":"text","text":"x"}`, `,{}`, 3_000_000, `],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
	})
	mux.HandleFunc("POST /mcp", floodTools)
	mux.HandleFunc("GET /mcp", http.NotFound)
	o := &Outside{httptest.NewServer(mux)}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, o.server.URL, o.server.URL+"/keys")
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys":[{"kty":"RSA","kid":"giant","alg":"RS256","use":"sig","e":"AQAB","n":%q}]}`, giant())
	})
	return o
}

// giant is a modulus of a million bits.
func giant() string {
	return base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xd7}, 1<<17))
}

// token is one that the issuer never signed.
func (o *Outside) token() string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"RS256","typ":"at+jwt","kid":"giant"}`) + "." +
		part(fmt.Sprintf(`{"iss":%q,"sub":"x","aud":"wharf","client_id":"x","iat":%d,"exp":%d}`, o.server.URL, time.Now().Unix(), time.Now().Unix()+600)) + "." + giant()
}

// Close ends it.
func (o *Outside) Close() { o.server.Close() }

// answer writes a JSON text whose middle is repeated.
func answer(w http.ResponseWriter, head, each string, times int, tail string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, head)
	piece := strings.Repeat(each, 10_000)
	for range times / 10_000 {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, tail)
}

// floodTools answers like a server of tools whose list has large pages and no end.
func floodTools(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	id := "1"
	if _, rest, ok := bytes.Cut(body, []byte(`"id":`)); ok {
		id = string(rest[:bytes.IndexAny(rest, ",}")])
	}
	switch {
	case bytes.Contains(body, []byte(`"initialize"`)):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, id)
	case bytes.Contains(body, []byte(`"tools/list"`)):
		answer(w, `{"jsonrpc":"2.0","id":`+id+`,"result":{"nextCursor":"more`+id+`","tools":[{"name":"t`+id+`","inputSchema":{"type":"object","enum":[1`, `,2`, 2_000_000, `]}}]}}`)
	case bytes.Contains(body, []byte(`"id":`)):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, id)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// WriteConfig writes the settings of a node that asks all of them.
func (o *Outside) WriteConfig(dir string) (string, error) {
	path := filepath.Join(dir, "strangers.yaml")
	text := fmt.Sprintf(`
models:
  default: openai
  openai: {provider: openai, base_url: "%[1]s/openai/v1", model: small}
  anthropic: {provider: anthropic, base_url: "%[1]s/anthropic", model: small}
tools:
  flood: {url: "%[1]s/mcp", timeout: 20s}
oauth:
  issuers:
    giants: {issuer: "%[1]s", audience: wharf, scopes: ["tasks:read"]}
grants:
  calls: {models: ["*"], tools: ["flood:*"]}
`, o.server.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("writing a configuration: %w", err)
	}
	return path, nil
}
