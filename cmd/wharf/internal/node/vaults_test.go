package node

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// TestWhichConnectorsUseTheNodesSecrets holds that none does that the secret does not
// name.
func TestWhichConnectorsUseTheNodesSecrets(t *testing.T) {
	t.Setenv("HOOK_FOR_TEST", "value")
	c := &config.Config{}
	c.Secrets = map[string]config.Secret{
		"hook":   {Env: "HOOK_FOR_TEST", Connectors: []string{"git*", "conn_b"}},
		"closed": {Env: "HOOK_FOR_TEST"}, "all": {Env: "HOOK_FOR_TEST", Connectors: []string{"*"}},
	}
	read := nodeSecret(c, slog.New(slog.DiscardHandler))
	for _, test := range []struct {
		id, provider, name string
		want               abi.CallStatus
	}{
		{"conn_a", "github", "hook", abi.CallOK}, {"conn_b", "slack", "hook", abi.CallOK}, {"conn_a", "slack", "hook", abi.CallDenied},
		{"conn_a", "github", "closed", abi.CallDenied}, {"conn_a", "slack", "all", abi.CallOK}, {"conn_a", "github", "absent", abi.CallDenied},
	} {
		about := &abi.Connector{Provider: test.provider}
		about.ID = test.id
		value, err := read(t.Context(), about, test.name)
		refused, _ := errors.AsType[*provider.Refusal](err)
		if test.want == abi.CallOK && (err != nil || string(value) != "value") || test.want != abi.CallOK && (refused == nil || refused.Status != test.want || len(value) > 0) {
			t.Errorf("%s of %s for %s: %q, %v", test.name, test.id, test.provider, value, err)
		}
	}
}
