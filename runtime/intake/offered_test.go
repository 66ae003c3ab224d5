package intake

import (
	"errors"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// What is left out comes from the plugin that is named, or whose provider it is; what is stated stays.
func TestWhatAnInstalledConnectorSays(t *testing.T) {
	orders := &abi.Connector{Provider: "orders", Plugin: "shop#normalize", EventKinds: []string{"made"}, Ordered: true, Polling: &abi.Polling{Schedule: "@hourly"}}
	all := []*abi.Connector{orders, {Provider: "github", Plugin: "hub#run"}, {Provider: "twice", Plugin: "a#run"}, {Provider: "twice", Plugin: "b#run"}, {Provider: "b", Plugin: "c#run"}}
	i := &Intake{parts: Parts{Offered: func() []*abi.Connector { return all }}}
	for about, test := range map[string]struct{ provider, plugin, wantProvider, wantPlugin string }{
		"by its provider":                    {"orders", "", "orders", "shop#normalize"},
		"by its name":                        {"", "shop", "orders", "shop#normalize"},
		"another provider, by its name":      {"other", "shop", "other", "shop#normalize"},
		"an export":                          {"orders", "mine#x", "orders", "mine#x"},
		"nobody's provider":                  {"unknown", "", "unknown", ""},
		"another spelling":                   {"Orders", "", "Orders", ""},
		"nobody's name":                      {"orders", "none", "orders", "none"},
		"nothing":                            {"", "", "", ""},
		"one that the node knows":            {"github", "", "github", ""},
		"one that the node knows, by name":   {"github", "hub", "github", "hub#run"},
		"of two, one by name":                {"twice", "b", "twice", "b#run"},
		"a name that is another's provider":  {"", "b", "twice", "b#run"},
		"a provider that is another's name":  {"b", "", "b", "c#run"},
		"an export of nothing":               {"orders", "#", "orders", "#"},
		"a name with an empty export's mark": {"orders", "shop#", "orders", "shop#"},
	} {
		req := abi.CreateConnectorRequest{Provider: test.provider, Plugin: test.plugin}
		if err := i.takeOffered(&req); err != nil || req.Provider != test.wantProvider || req.Plugin != test.wantPlugin {
			t.Errorf("%s: %q by %q (%v), want %q by %q", about, req.Provider, req.Plugin, err, test.wantProvider, test.wantPlugin)
		}
	}
	err := i.takeOffered(&abi.CreateConnectorRequest{Provider: "twice"})
	if own, ok := errors.AsType[*abi.Error](err); !ok || own.Param != "plugin" || !strings.Contains(own.Message, "a#run and b#run") {
		t.Errorf("a provider of two: %v", err)
	}
	stated := abi.CreateConnectorRequest{Provider: "orders", EventKinds: []string{}, Polling: &abi.Polling{Schedule: "@every 1m"}}
	if err := i.takeOffered(&stated); err != nil || len(stated.EventKinds) != 0 || stated.Polling.Schedule != "@every 1m" || !stated.Ordered {
		t.Errorf("%+v, %v", stated, err)
	}
	taken := abi.CreateConnectorRequest{Provider: "orders"}
	if err := i.takeOffered(&taken); err != nil || taken.EventKinds[0] != "made" || taken.Polling == orders.Polling || taken.Polling.Schedule != "@hourly" {
		t.Errorf("%+v, %v", taken, err)
	}
	if err := (&Intake{}).takeOffered(&abi.CreateConnectorRequest{Provider: "orders"}); err != nil {
		t.Errorf("where nothing is installed: %v", err)
	}
}
