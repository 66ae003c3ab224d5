package hosts_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
	"github.com/wharf-dev/wharf/storage"
)

// asks makes a call of a Task that has one skill, of a Session with one client.
type asks struct {
	skills *hosts.Skills
	host   *hosts.Host
}

func newAsks(t testing.TB, e *editor, methods ...string) *asks {
	t.Helper()
	hs := hosts.New(hosts.Config{})
	h := hs.Connect(hosts.Client{Tenant: "t", Session: "s", Declared: hosts.Declared{Methods: methods}, Caller: connect(t, e)})
	t.Cleanup(h.Close)
	return &asks{&hosts.Skills{Hosts: hs, TenantID: func(storage.Tenant) string { return "t" }, MostTold: 100}, h}
}

func of(request string) *hostcall.Call {
	return &hostcall.Call{Run: &roomtest.Run{Has: []abi.TaskSkill{{InputSkill: abi.InputSkill{Name: "own", Description: "Reads tides."}}}},
		Task: &abi.Task{Envelope: abi.Envelope{ID: "task_1"}, SessionID: "s"}, Request: []byte(request)}
}

func (a *asks) match(ctx context.Context, request string) (hostcall.Answer, error) {
	return a.skills.HostCalls()[abi.CallSkillMatch](ctx, of(request))
}

const twoCandidates = `"prompt":"ship it now","candidates":[{"name":"ship","description":"Ship a release","paths":["infra/**"]},{"name":"review","when_to_use":"to review"}]`

// A client ranks in any of the shapes that there are. Names that it was not asked for count for nothing.
func TestAClientRanks(t *testing.T) {
	const entries = `[{"name":"unknown","score":9},{"name":"review"},{"name":"ship","score":2.5,"reason":"why"},{"name":"ship","score":7}]`
	for _, shape := range []string{`%`, `{"matches":%}`, `{"skills":%}`, `{"result":{"matches":%}}`, `{"result":{"skills":%}}`, `{"result":%}`} {
		e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){hosts.MethodMatchSkills: says(strings.Replace(shape, "%", entries, 1))}}
		a := newAsks(t, e, hosts.MethodMatchSkills)
		for _, strategy := range []string{"host", "embedding"} {
			answer, err := a.match(t.Context(), `{"strategy":"`+strategy+`","working_files":["infra/a.tf"],`+twoCandidates+`}`)
			want := `{"matches":[{"name":"ship","score":2.5,"reason":"why"},{"name":"review","score":1,"reason":"host match"}],"by":"host"}`
			if err != nil || string(answer.JSON) != want || len(answer.Extra) != 0 {
				t.Errorf("%s: %s, %v", shape, answer.JSON, err)
			}
		}
		want := `skill/match {"strategy":"host","prompt":"ship it now","working_files":["infra/a.tf"],"candidates":[{"name":"ship","description":"Ship a release","when_to_use":"","paths":["infra/**"]},{"name":"review","description":"","when_to_use":"to review","paths":[]}]}`
		if got := e.heard(); got[0] != want {
			t.Errorf("it was asked %s", got[0])
		}
	}
}

// Where a client cannot rank, the node does, and says so in the log; where there is none, or none is
// asked for, the node does.
func TestTheNodeRanks(t *testing.T) {
	for _, wrong := range []func(context.Context, jsontext.Value) (any, error){fails(-32603, "it broke"), says(`7`), says(`{}`), says(`{"matches":7}`), says(`[7]`), says(`[{"name":"ship","score":"x"}]`)} {
		a := newAsks(t, &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){hosts.MethodMatchSkills: wrong}}, hosts.MethodMatchSkills)
		answer, err := a.match(t.Context(), `{"strategy":"host",`+twoCandidates+`}`)
		if err != nil || !strings.Contains(string(answer.JSON), `"name":"ship"`) || !strings.HasSuffix(string(answer.JSON), `"by":"node"}`) {
			t.Errorf("%s, %v", answer.JSON, err)
		}
		if len(answer.Extra) != 1 || answer.Extra[0].Kind != abi.EventLog {
			t.Fatalf("it tells %+v", answer.Extra)
		}
		if line, ok := answer.Extra[0].Payload.(*abi.CallLogRequest); !ok || line.Level != "warn" || !strings.HasPrefix(line.Message, "agent.skill_match: ") {
			t.Errorf("it tells %+v", line)
		}
	}
	e := &editor{}
	a := newAsks(t, e)
	for request, want := range map[string]string{
		`{"strategy":"host",` + twoCandidates + `}`:     `"name":"ship"`,
		`{` + twoCandidates + `}`:                       `"name":"ship"`,
		`{"strategy":"metadata",` + twoCandidates + `}`: `"name":"ship"`,
		`{"prompt":"tides"}`:                            `{"matches":[{"name":"own",`,
		`{"prompt":"x","candidates":[]}`:                `{"matches":[],"by":"node"}`,
		`{"prompt":"","working_files":["a/b.go"],"candidates":[{"name":"go","paths":["**/*.go"]}]}`: `{"matches":[{"name":"go","score":1,"reason":"its path \"**/*.go\" is that of \"a/b.go\""}],`,
	} {
		answer, err := a.match(t.Context(), request)
		if err != nil || !strings.Contains(string(answer.JSON), want) || !strings.Contains(string(answer.JSON), `"by":"node"`) || len(answer.Extra) != 0 {
			t.Errorf("%s: %s, %v", request, answer.JSON, err)
		}
	}
	if got := e.heard(); len(got) != 0 {
		t.Errorf("it was asked %q", got)
	}
	for _, bad := range []string{`{"prompt":"x","strategy":"magic"}`, `{"prompt":7}`, `{"prompt":"x","candidates":[` + strings.Repeat(`{"name":"a"},`, 1000) + `{"name":"a"}]}`} {
		if _, err := a.match(t.Context(), bad); status(err) != abi.CallInvalid {
			t.Errorf("%.60s: %v", bad, err)
		}
	}
}

// Skills of a client's stand beside those of the Task, and are read with a manifest, nested or flat. They are
// listed again when the client says so.
func TestSkillsOfAClient(t *testing.T) {
	const listed = `{"id":"x/ship","name":"ship","description":"Ships it","source":"host"},{"id":"flat","when_to_use":"often"},{"id":"own"},{"name":""},7,{"id":"ship2","name":"ship"}`
	for _, shape := range []string{`[%]`, `{"skills":[%]}`, `{"result":{"skills":[%]}}`} {
		e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){hosts.MethodSkills: says(strings.Replace(shape, "%", listed, 1)),
			hosts.MethodSkill: func(_ context.Context, p jsontext.Value) (any, error) {
				if strings.Contains(string(p), "x/ship") {
					return jsontext.Value(`{"name":"ship","description":"Ships it","body":"# Ship","manifest":{"when_to_use":"w","allowed_tools":["git"],"paths":["infra/**"],"model":"m"}}`), nil
				}
				return jsontext.Value(`{"name":"flat","body":"# Flat","when_to_use":"w","allowed_tools":["git"],"paths":["a"],"model":"m"}`), nil
			}}}
		a := newAsks(t, e, hosts.MethodSkills, hosts.MethodSkill)
		for range 2 {
			answer, err := a.match(t.Context(), `{"prompt":"ships"}`)
			want := `"skills":[{"name":"own","description":"Reads tides.","source":"installed"},{"name":"ship","description":"Ships it","source":"host"},{"name":"flat","when_to_use":"often","source":"host"}]}`
			if err != nil || !strings.HasSuffix(string(answer.JSON), want) {
				t.Errorf("%s: %s, %v", shape, answer.JSON, err)
			}
		}
		if got := e.heard(); len(got) != 1 || got[0] != "skills/list {}" {
			t.Errorf("it was asked %q", got)
		}
		for name, want := range map[string]string{"ship": `"text":"# Ship","manifest":{"when_to_use":"w","allowed_tools":["git"],"paths":["infra/**"],"model":"m"}}`,
			"flat": `"text":"# Flat","manifest":{"when_to_use":"w","allowed_tools":["git"],"paths":["a"],"model":"m"}}`} {
			file, err := a.skills.Read(t.Context(), of(`{}`), name, "")
			raw, _ := json.Marshal(file)
			if err != nil || !strings.HasSuffix(string(raw), want) {
				t.Errorf("%s: %s, %v", name, raw, err)
			}
		}
		if _, err := a.skills.Read(t.Context(), of(`{}`), "ship", "more.md"); status(err) != abi.CallNotFound {
			t.Error(err)
		}
		if file, err := a.skills.Read(t.Context(), of(`{}`), "gone", ""); file != nil || err != nil {
			t.Errorf("%+v, %v", file, err)
		}
		before := len(e.heard())
		a.host.SkillsChanged()
		if _, err := a.match(t.Context(), `{"prompt":"x"}`); err != nil || len(e.heard()) != before+1 {
			t.Errorf("it was asked %q, %v", e.heard(), err)
		}
		e.answers[hosts.MethodSkill] = says(`{"name":"ship","body":"` + strings.Repeat("x", 101) + `"}`)
		if _, err := a.skills.Read(t.Context(), of(`{}`), "ship", ""); status(err) != abi.CallTooLarge {
			t.Error(err)
		}
		e.answers[hosts.MethodSkill] = fails(-32603, "it broke")
		if _, err := a.skills.Read(t.Context(), of(`{}`), "ship", ""); status(err) != abi.CallUnavailable || !strings.Contains(err.Error(), "it broke") {
			t.Error(err)
		}
	}
}

// A Task that ends does not wait for its client.
func TestARankingIsNotWaitedForEver(t *testing.T) {
	stopped := errors.New("the task has ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	e := &editor{answers: map[string]func(context.Context, jsontext.Value) (any, error){hosts.MethodMatchSkills: func(of context.Context, _ jsontext.Value) (any, error) {
		cancel(stopped)
		<-of.Done()
		return nil, nil
	}}}
	a := newAsks(t, e, hosts.MethodMatchSkills)
	if _, err := a.match(ctx, `{"strategy":"host",`+twoCandidates+`}`); !errors.Is(err, stopped) {
		t.Error(err)
	}
}
