package acp_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// chosen are the settings that an answer has.
type chosen struct{ mode, model string }

func chosenIn(t testing.TB, result jsontext.Value) (c chosen) {
	t.Helper()
	var of struct {
		Modes struct {
			Current string `json:"currentModeId"`
		} `json:"modes"`
		Options []struct {
			Value string `json:"currentValue"`
		} `json:"configOptions"`
	}
	if err := json.Unmarshal(result, &of); err != nil || len(of.Options) != 1 {
		t.Fatal(err, string(result))
	}
	return chosen{of.Modes.Current, of.Options[0].Value}
}

// told counts the updates of a kind that have a text.
func (e *editor) told(kind, with string) (n int) {
	for _, u := range e.updates() {
		if u.kind == kind && strings.Contains(string(u.raw), with) {
			n++
		}
	}
	return n
}

// Mode and model are the Session's: every client is told of a change, whoever makes it, REST shows it, and
// so it is after a restart.
func TestSettingsAreTheSessions(t *testing.T) {
	disk := crashtest.NewDisk()
	guests := enginetest.Guests{"other": says("I am other")}
	n := startNode(t, disk, guests, gateway.Config{})
	one, two := n.connect(t, enginetest.RootKey, stock), n.connect(t, enginetest.RootKey, aware)
	s := one.open()
	if got := chosenIn(t, two.ok("session/load", loadOf(s))); got != (chosen{"persona_echo", "small"}) {
		t.Errorf("at first: %+v", got)
	}
	one.ok("session/set_mode", `{"sessionId":"`+s+`","modeId":"persona_other"}`)
	one.ok("session/set_config_option", `{"sessionId":"`+s+`","configId":"model","value":"large"}`)
	for name, e := range map[string]*editor{"who has said it": one, "the other": two} {
		e.until(name+" is told", func() bool {
			return e.told("current_mode_update", `"persona_other"`) == 1 && e.told("config_option_update", `"currentValue":"large"`) == 1
		})
	}
	doc, err := n.Get(t.Context(), n.Root, abi.ObjectSession, s)
	if err != nil {
		t.Fatal(err)
	}
	if of := enginetest.As[abi.Session](t, doc); of.PersonaID != "persona_other" || of.Model != "large" {
		t.Errorf("over REST: %+v", of)
	}
	if one.prompt(s, "go"); !strings.HasSuffix(one.said(), "[I am other]") || n.tasksOf(t, s)[0].Run.Model != "large" {
		t.Errorf("a turn: %s %+v", one.said(), n.tasksOf(t, s))
	}
	n.end()

	n = startNode(t, disk, guests, gateway.Config{})
	one = n.connect(t, enginetest.RootKey, stock)
	if got := chosenIn(t, one.ok("session/load", loadOf(s))); got != (chosen{"persona_other", "large"}) {
		t.Errorf("after a restart: %+v", got)
	}
	change := abi.UpdateSessionRequest{PersonaID: abi.Change[string]{Given: true}, Model: abi.ChangeTo("small")}
	if _, err := n.UpdateSession(t.Context(), n.Root, nil, s, change); err != nil {
		t.Fatal(err)
	}
	one.until("what was changed over REST", func() bool {
		return one.told("current_mode_update", `"persona_echo"`) == 1 && one.told("config_option_update", `"currentValue":"small"`) == 1
	})
	fork := chosenIn(t, one.ok("session/fork", `{"sessionId":"`+s+`","cwd":"/home/me/work","mcpServers":[]}`))
	if got := chosenIn(t, one.ok("session/resume", loadOf(s))); got != (chosen{"persona_echo", "small"}) || got != fork {
		t.Errorf("after the change over REST: %+v, of a fork %+v", got, fork)
	}
	if one.prompt(s, "go"); !strings.HasSuffix(one.said(), "[hello]") {
		t.Errorf("a turn after that: %s", one.said())
	}
}

// Who may not change Sessions changes no settings, and a Persona of elsewhere is no mode.
func TestSettingsRefused(t *testing.T) {
	n := newNode(t, nil)
	s := n.Session(t)
	weak := n.connect(t, n.key(t, abi.CreateKeyRequest{Scopes: []string{"sessions:read", "events:read", "messages:read", "tasks:read", "personas:read"}}), stock)
	weak.ok("session/load", loadOf(s))
	weak.refused(-32600, "session/set_mode", `{"sessionId":"`+s+`","modeId":"persona_echo"}`)
	weak.refused(-32600, "session/set_config_option", `{"sessionId":"`+s+`","configId":"model","value":"large"}`)
	blind := n.connect(t, n.key(t, abi.CreateKeyRequest{Scopes: []string{"sessions:read", "sessions:write", "events:read", "messages:read", "tasks:read"}}), stock)
	blind.ok("session/load", loadOf(s))
	blind.refused(-32602, "session/set_mode", `{"sessionId":"`+s+`","modeId":"persona_echo"}`)
}
