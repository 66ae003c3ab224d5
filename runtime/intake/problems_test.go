package intake

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// broken makes everything that a Connector needs go away and come back.
type broken struct{ persona, plugin, personaPlugin, secret bool }

func (b *broken) Resolve(_ context.Context, plugin string) (string, error) {
	if plugin == "connectors" && b.plugin || plugin == "gone" && b.personaPlugin {
		return "", &abi.Failure{Code: "plugin_unavailable", Message: "there is no plugin " + plugin}
	}
	return "sha256:sorter", nil
}

func (r *room) breakable(b *broken) *bytes.Buffer {
	var log bytes.Buffer
	r.parts.Log = slog.New(slog.NewTextHandler(&log, nil))
	r.parts.Plugins = &resolving{r, b}
	r.parts.Persona = func(_ context.Context, _ storage.Tenant, _, id string) (string, error) {
		if b.persona {
			return "", abi.NotFound(abi.ObjectPersona, id)
		}
		return "gone#run", nil
	}
	r.parts.Secret = func(_ context.Context, _ storage.Tenant, _ *abi.Connector, _, name string) ([]byte, error) {
		if b.secret {
			return nil, provider.Refuse(abi.CallNotFound, "unknown", `there is no secret "`+name+`"`)
		}
		return []byte("0123456789abcdef0123456789abcdef"), nil
	}
	return &log
}

// resolving is a room whose plugins can be gone.
type resolving struct {
	*room
	broken *broken
}

func (r *resolving) Resolve(ctx context.Context, plugin string) (string, error) {
	return r.broken.Resolve(ctx, plugin)
}

// A Connector that cannot work says so when it is made, when it is read, and in the log, once.
func TestAConnectorSaysWhyItCannotWork(t *testing.T) {
	r, b := newRoom(t), &broken{secret: true}
	log := r.breakable(b)
	missing := `the secret "hook", which signatures are checked with, cannot be used: there is no secret "hook"`
	doc, err := r.CreateConnector(t.Context(), r.root, nil, abi.CreateConnectorRequest{Provider: "github", WorkspaceID: workspace,
		TargetPersonaID: "persona_x", Auth: &abi.WebhookAuth{Secrets: []string{"hook"}}})
	if err != nil {
		t.Fatal(err)
	}
	told := func(text []byte) []string {
		t.Helper()
		var c abi.Connector
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		return c.Problems
	}
	if got := told(doc.JSON); !slices.Equal(got, []string{missing}) {
		t.Errorf("made: %q", got)
	}
	for _, now := range []struct {
		broken
		want []string
	}{
		{broken{}, nil},
		{broken{secret: true}, []string{missing}},
		{broken{persona: true}, []string{"its Persona persona_x is not there, or may not be used in its Workspace"}},
		{broken{personaPlugin: true}, []string{"its Persona persona_x cannot run: there is no plugin gone"}},
		{broken{plugin: true, secret: true}, []string{"its plugin connectors#github cannot be used: there is no plugin connectors", missing}},
	} {
		*b = now.broken
		read, err := r.GetConnector(t.Context(), r.root, doc.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := told(read.JSON); !slices.Equal(got, now.want) {
			t.Errorf("%+v: %q, want %q", now.broken, got, now.want)
		}
	}
	*b = broken{secret: true}
	name := "renamed"
	if _, err := r.UpdateConnector(t.Context(), r.root, nil, doc.ID, abi.UpdateConnectorRequest{Name: &name}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "a connector cannot work as it is"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, log)
	}
	fault := "the poll task_1 failed: http_denied"
	r.inlets.all()[0].pollFault.Store(&fault)
	read, err := r.GetConnector(t.Context(), r.root, doc.ID)
	if err != nil || !strings.Contains(string(read.JSON), "the last poll did not work: "+fault) {
		t.Errorf("%s, %v", read.JSON, err)
	}
}

func TestAConnectorThatCannotBeIsRefused(t *testing.T) {
	r := newRoom(t)
	for what, test := range map[string]struct {
		req  abi.CreateConnectorRequest
		want string
	}{
		"cron without a schedule":    {abi.CreateConnectorRequest{Provider: "cron"}, "a Connector of the provider cron needs a schedule, such as"},
		"cron with an empty one":     {abi.CreateConnectorRequest{Provider: "cron", Polling: &abi.Polling{}}, "needs a schedule"},
		"a provider that is not":     {abi.CreateConnectorRequest{Provider: "nope"}, `there is no provider "nope": there are cloudevents, cron, generic, github, slack and stripe`},
		"one that is misspelled":     {abi.CreateConnectorRequest{Provider: "gihtub"}, `did you mean "github"?`},
		"a plugin without an export": {abi.CreateConnectorRequest{Provider: "nope", Plugin: "mine"}, "plugin must be PLUGIN#EXPORT"},
	} {
		test.req.WorkspaceID = workspace
		_, err := r.CreateConnector(t.Context(), r.root, nil, test.req)
		if refused, ok := errors.AsType[*abi.Error](err); !ok || refused.Code != abi.CodeInvalidRequest || !strings.Contains(refused.Message, test.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAFailedPollSaysWhy(t *testing.T) {
	for want, f := range map[string]*abi.Failure{"": nil, ": http_denied": {Code: "http_denied"}, ": no grant": {Code: "http_denied", Message: "no grant"}} {
		if got := because(f); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
}
