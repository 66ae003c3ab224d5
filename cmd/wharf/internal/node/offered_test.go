package node

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

const (
	callerManifest = "name = \"caller\"\nversion = \"1.0.0\"\nkind = \"persona\"\ncapabilities = [\"tool.call\"]\ntools = [\"custom:say\"]\n"
	gateManifest   = "name = \"gate\"\nversion = \"1.0.0\"\nkind = \"hook\"\n[hook]\nevent = \"pre_tool\"\nfail = \"closed\"\ntimeout = \"20s\"\n"
	callsTool      = `{"program":[{"call":"tool.call","request":{"server":"custom","name":"say","arguments":{"a":1}}}]}`
)

func (n *installing) installAs(t *testing.T, name, manifest string) {
	t.Helper()
	if _, err := n.engine.InstallPlugin(t.Context(), n.root, nil, abi.InstallPluginRequest{Name: name, Manifest: &abi.PluginManifest{Text: manifest}}, bytes.NewReader(plugintest.Calls())); err != nil {
		t.Fatal(err)
	}
}

func (n *installing) hook(t *testing.T, req abi.CreateHookRequest) (abi.Hook, error) {
	t.Helper()
	req.WorkspaceID = tenancy.DefaultWorkspace
	doc, err := n.engine.CreateHook(t.Context(), n.root, nil, req)
	var h abi.Hook
	if err == nil {
		var all struct {
			abi.Hook `json:",inline"`
			Secret   string `json:"secret"`
		}
		err = json.Unmarshal(doc.JSON, &all)
		h = all.Hook
	}
	return h, err
}

// A hook that was installed is made by the plugin's name alone, by what its manifest says, and is asked; a restart
// changes nothing, and a plugin that is disabled offers no hook.
func TestAHookIsInstalled(t *testing.T) {
	o := options(t, nil)
	o.Config.Commands = map[string][]string{"say": {"cat"}}
	n := startInstalling(t, o)
	defer func() { _ = n.Close() }()
	_, err := n.engine.CreateCustomTool(t.Context(), n.root, nil, abi.CreateCustomToolRequest{WorkspaceID: tenancy.DefaultWorkspace, Name: "say", Description: "says it",
		InputSchema: jsontext.Value(`{"type":"object"}`), Handler: abi.ToolHandler{Command: "say"}})
	if err != nil {
		t.Fatal(err)
	}
	n.installAs(t, "caller", callerManifest)
	n.installAs(t, "gate", gateManifest)
	calls := func(when string, denied bool) {
		t.Helper()
		task, _ := n.runs(t, "persona_caller", callsTool)
		if rec := n.recordOf(t, task); strings.Contains(rec, "hook_denied") != denied {
			t.Errorf("%s, denied should be %t: %s", when, denied, rec)
		}
	}
	calls("before there is a hook", false)
	for about, req := range map[string]abi.CreateHookRequest{
		"of another event":       {Event: abi.HookStop, Handler: abi.HookHandler{Command: "wasm:gate"}},
		"of a persona":           {Event: abi.HookPreTool, Handler: abi.HookHandler{Command: "wasm:caller"}},
		"of nothing":             {Handler: abi.HookHandler{Command: "wasm:"}},
		"of none":                {Handler: abi.HookHandler{Command: "wasm:none"}},
		"without an event":       {Handler: abi.HookHandler{Command: "wasm:gate#run"}},
		"with an address":        {Handler: abi.HookHandler{Command: "wasm:gate", URL: "https://example.com"}},
		"with a name":            {Event: abi.HookPreTool, Name: "x", Handler: abi.HookHandler{Command: "wasm:gate"}},
		"in another spelling":    {Handler: abi.HookHandler{Command: "WASM:gate"}},
		"with no export's mark#": {Handler: abi.HookHandler{Command: "wasm:gate#"}},
	} {
		if _, err := n.hook(t, req); err == nil {
			t.Errorf("a hook %s was made", about)
		}
	}
	h, err := n.hook(t, abi.CreateHookRequest{Handler: abi.HookHandler{Command: "wasm:gate"}})
	if err != nil || h.Event != abi.HookPreTool || h.Fail != abi.HookClosed || h.TimeoutMS != 20_000 || h.Handler.Command != "wasm:gate#run" {
		t.Fatalf("it is %+v, %v", h, err)
	}
	calls("the hook gives no answer, and its manifest says closed", true)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = startInstalling(t, o)
	calls("after a restart", true)
	if err := n.engine.RemovePlugin(t.Context(), n.root, nil, "gate", false); err == nil || !strings.Contains(err.Error(), h.ID) {
		t.Errorf("removing what is in use: %v", err)
	}
	if _, err := n.engine.DisablePlugin(t.Context(), n.root, nil, "gate"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.hook(t, abi.CreateHookRequest{Handler: abi.HookHandler{Command: "wasm:gate"}}); err == nil || !strings.Contains(err.Error(), "is disabled") {
		t.Errorf("a hook of a plugin that is disabled: %v", err)
	}
	if _, err := n.engine.EnablePlugin(t.Context(), n.root, nil, "gate"); err != nil {
		t.Fatal(err)
	}
	open := abi.HookOpen
	if _, err := n.engine.UpdateHook(t.Context(), n.root, nil, h.ID, abi.UpdateHookRequest{Fail: &open, Handler: &abi.HookHandler{Command: "wasm:gate"}}); err != nil {
		t.Fatal(err)
	}
	calls("it is open by now", false)
	if err := n.engine.DeleteHook(t.Context(), n.root, nil, h.ID); err != nil {
		t.Fatal(err)
	}
	stated, err := n.hook(t, abi.CreateHookRequest{Event: abi.HookPreTool, Fail: abi.HookOpen, TimeoutMS: 1000, Handler: abi.HookHandler{Command: "wasm:gate"}})
	if err != nil || stated.Fail != abi.HookOpen || stated.TimeoutMS != 1000 {
		t.Errorf("what is stated is %+v, %v", stated, err)
	}
	stop, err := n.hook(t, abi.CreateHookRequest{Event: abi.HookStop, Handler: abi.HookHandler{Command: "wasm:gate#run"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.engine.UpdateHook(t.Context(), n.root, nil, stop.ID, abi.UpdateHookRequest{Handler: &abi.HookHandler{Command: "wasm:gate"}})
	if own, ok := errors.AsType[*abi.Error](err); !ok || own.Param != "event" {
		t.Errorf("a hook that is told of the end: %v", err)
	}
}
