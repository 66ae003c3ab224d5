package mcp_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/mcp"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

func TestNobodyIsToldWhoGivesTokens(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), nil, gateway.Config{PublicURL: "https://node.example"}, mcp.Node{})
	for _, key := range []string{"", "wrong"} {
		answer := n.post(t, t.Context(), key, ping, nil)
		challenge := answer.Header.Get("WWW-Authenticate")
		if answer.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(challenge, "Bearer ") ||
			!strings.Contains(challenge, `resource_metadata="https://node.example/.well-known/oauth-protected-resource/mcp"`) {
			t.Errorf("key %q: %d, challenge %s", key, answer.StatusCode, challenge)
		}
		if got := rpcCode(t, answer); got == 0 {
			t.Errorf("key %q: the answer is none of JSON-RPC", key)
		}
	}
	for _, path := range []string{"", "/mcp"} {
		answer, err := http.Get(n.url + "/.well-known/oauth-protected-resource" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		var doc struct {
			Resource string   `json:"resource"`
			Methods  []string `json:"bearer_methods_supported"`
			Scopes   []string `json:"scopes_supported"`
		}
		if err := json.UnmarshalRead(answer.Body, &doc); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer.StatusCode, err)
		}
		if doc.Resource != "https://node.example/mcp" || !slices.Equal(doc.Methods, []string{"header"}) || !slices.Contains(doc.Scopes, "tasks:write") {
			t.Errorf("%s: %+v", path, doc)
		}
	}
}

// rpcCode returns the code of the error that a message was answered with, 0 for no error.
func rpcCode(t testing.TB, answer *http.Response) int64 {
	t.Helper()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		Version string `json:"jsonrpc"`
		Error   struct {
			Code int64 `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &of) != nil || of.Version != "2.0" {
		return 0
	}
	return of.Error.Code
}

func TestForgedHostsAndOriginsLearnNothing(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), nil, gateway.Config{PublicURL: "https://node.example"},
		mcp.Node{Hosts: []string{"alias.example"}, Origins: []string{"https://app.example"}})
	local := strings.TrimPrefix(n.url, "http://")
	for name, of := range map[string]struct {
		header map[string]string
		want   int
	}{
		"its address":                 {nil, 200},
		"a name of loopback":          {map[string]string{"Host": "localhost:1234"}, 200},
		"its public name":             {map[string]string{"Host": "node.example"}, 200},
		"a name that is configured":   {map[string]string{"Host": "alias.example:8080"}, 200},
		"its own page":                {map[string]string{"Origin": "http://" + local}, 200},
		"a page that is configured":   {map[string]string{"Origin": "https://app.example"}, 200},
		"a stranger's name":           {map[string]string{"Host": "evil.example"}, 403},
		"a name that begins alike":    {map[string]string{"Host": "localhost.evil.example"}, 403},
		"a stranger's page":           {map[string]string{"Origin": "https://evil.example"}, 403},
		"a page of nowhere":           {map[string]string{"Origin": "null"}, 403},
		"a page under a name it took": {map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}, 403},
	} {
		for _, key := range []string{enginetest.RootKey, ""} {
			want := of.want
			if want == 200 && key == "" {
				want = 401
			}
			const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
			if answer := n.post(t, t.Context(), key, initialize, of.header); answer.StatusCode != want {
				t.Errorf("%s, key %q: %d, want %d", name, key, answer.StatusCode, want)
			}
		}
	}
}

func TestBadMessages(t *testing.T) {
	n := newNode(t, nil)
	session := n.open(t, enginetest.RootKey)
	in := map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": withSessions}
	modern := func(method string) map[string]string {
		return map[string]string{"Mcp-Protocol-Version": stateless, "Mcp-Method": method}
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for name, of := range map[string]struct {
		body   string
		header map[string]string
		status int
		code   int64
	}{
		"a batch":                    {"[" + ping + "]", in, 400, -32600},
		"no JSON":                    {"{", in, 400, -32700},
		"nothing":                    {"", in, 400, -32700},
		"deep":                       {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", in, 400, -32700},
		"a name twice":               {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, in, 400, -32700},
		"another version":            {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, in, 400, -32600},
		"an id of another kind":      {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, in, 400, -32600},
		"an unknown method":          {`{"jsonrpc":"2.0","id":1,"method":"tools/destroy","params":{` + meta + `}}`, modern("tools/destroy"), 404, -32601},
		"a method that is not ours":  {`{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{` + meta + `}}`, modern("prompts/list"), 404, -32601},
		"another method in a header": {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, modern("tools/call"), 400, -32020},
		"a session and no sessions": {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`,
			map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": stateless, "Mcp-Method": "tools/list"}, 400, -32022},
		"a cursor of nothing": {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"%%",` + meta + `}}`, modern("tools/list"), 400, -32602},
	} {
		answer := n.post(t, t.Context(), enginetest.RootKey, of.body, of.header)
		if got := rpcCode(t, answer); answer.StatusCode != of.status || got != of.code {
			t.Errorf("%s: %d with %d, want %d with %d", name, answer.StatusCode, got, of.status, of.code)
		}
	}
}

func TestCallersSeeAndUseTheirOwn(t *testing.T) {
	both(t, func(t *testing.T, revision string) {
		n := newNode(t, nil)
		n.skill(t, "echo", abi.CreateSkillRequest{Name: "greet"})
		made, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "apart", Root: "wharf:///apart"})
		if err != nil {
			t.Fatal(err)
		}
		apart := made.ID
		persona, err := n.ClonePersona(t.Context(), n.Root, nil, "persona_echo", abi.ClonePersonaRequest{Name: "apart", WorkspaceID: apart})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.CreateSkill(t.Context(), n.Root, nil, abi.CreateSkillRequest{PersonaID: persona.ID, Name: "secret", Description: "of one workspace"}); err != nil {
			t.Fatal(err)
		}
		for who, of := range map[string]struct {
			key  string
			uses bool
			sees bool
		}{
			"a key of the tenant":    {enginetest.RootKey, true, true},
			"one of the workspace":   {n.key(t, []string{abi.ScopeAll}, apart), true, true},
			"one of another":         {n.key(t, []string{abi.ScopeAll}, tenancy.DefaultWorkspace), false, false},
			"a stranger":             {n.stranger(t), false, false},
			"one that may only look": {n.key(t, []string{"skills:read"}), false, true},
		} {
			s := n.connect(t, of.key, revision, nil)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(who, err)
			}
			if got := slices.Contains(names(list.Tools), "secret"); got != of.sees {
				t.Errorf("%s sees it: %v", who, got)
			}
			_, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "secret"})
			if (err == nil) != of.uses {
				t.Errorf("%s uses it: %v", who, err)
			}
		}
		s := n.connect(t, n.key(t, []string{"tasks:read"}), revision, nil)
		if _, err := s.ListTools(t.Context(), nil); err == nil {
			t.Error("a key without skills:read has listed tools")
		}
	})
}

func FuzzRequestState(f *testing.F) {
	n := startNode(f, crashtest.NewDisk(), nil, gateway.Config{}, mcp.Node{})
	n.skill(f, "echo", abi.CreateSkillRequest{Name: "greet"})
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJFZERTQSJ9.e30.AAAA")
	f.Fuzz(func(t *testing.T, state string) {
		text, err := json.Marshal(state)
		if err != nil || state == "" {
			t.Skip()
		}
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","requestState":` + string(text) +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		answer := n.post(t, t.Context(), enginetest.RootKey, body, map[string]string{"Mcp-Protocol-Version": stateless, "Mcp-Method": "tools/call", "Mcp-Name": "greet"})
		if got := rpcCode(t, answer); got != -32602 {
			t.Errorf("state %q was answered with %d, %d", state, answer.StatusCode, got)
		}
	})
}

func FuzzMessages(f *testing.F) {
	n := startNode(f, crashtest.NewDisk(), nil, gateway.Config{}, mcp.Node{})
	f.Add(ping, stateless, "ping")
	f.Add(`[{}]`, "", "")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}`, stateless, "tools/call")
	f.Fuzz(func(t *testing.T, body, version, method string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.url+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + enginetest.RootKey},
			"Mcp-Protocol-Version": {version}, "Mcp-Method": {method}}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Skip() // a header that net/http does not send
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%q was answered with %d: %s", body, answer.StatusCode, &n.log)
		}
	})
}
