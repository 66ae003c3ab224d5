package attackers

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/benches/internal/node"
)

// Strangers attack a node with a key of a tenant of their own, and without any.
type Strangers struct {
	node      *node.Node // as they have it
	workspace string
	session   string
	outside   *Outside
	persona   string // that makes the host calls which its input lists
	only      string
	say       func(format string, args ...any)
}

// attack does one thing again and again until ctx ends.
type attack struct {
	name  string
	conns int
	once  func(ctx context.Context) (status int)
}

// New gives strangers their tenant on a node that runs the plugin of persona. They make the
// attacks whose names hold one of the parts in only, which commas separate; say is told how
// each was answered.
func New(n *node.Node, o *Outside, persona, only string, say func(string, ...any)) (*Strangers, error) {
	var made struct {
		Key string `json:"key"`
	}
	err := n.Call("POST", "/wharf/v1/keys", map[string]any{"name": "stranger", "scopes": []string{"*"}, "tenant": "strangers"}, &made)
	if err != nil {
		return nil, err
	}
	s := &Strangers{node: n.As(made.Key), outside: o, persona: persona, only: only, say: say}
	if s.workspace, err = s.node.Workspace(); err != nil {
		return nil, err
	}
	s.session, err = s.node.CreateSession(s.workspace, "")
	return s, err
}

// status is how a request is answered; 0 for not at all.
func (s *Strangers) status(method, path string, body []byte) int {
	status, _, _ := s.node.Do(method, path, body)
	return status
}

// Run makes all attacks at once, and says at the end how each was answered.
func (s *Strangers) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, a := range s.chosen() {
		wg.Go(func() { s.repeat(ctx, a) })
	}
	wg.Wait()
}

func (s *Strangers) repeat(ctx context.Context, a attack) {
	var answers [6]atomic.Int64
	var wg sync.WaitGroup
	for range a.conns {
		wg.Go(func() {
			for ctx.Err() == nil {
				class := a.once(ctx) / 100
				answers[class].Add(1)
				if class != 2 {
					pause(ctx, 20*time.Millisecond) // a refusal costs little: whoever sends it again at once measures the network
				}
			}
		})
	}
	wg.Wait()
	s.say("  %-28s taken %d, refused %d, failed %d, no answer %d", a.name, answers[2].Load(), answers[4].Load(), answers[5].Load(), answers[0].Load())
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// listOf is a JSON text with as many members in a list as fit into so many bytes.
func listOf(head, member string, size int, tail string) []byte {
	return []byte(head + member + strings.Repeat(","+member, size/(len(member)+1)) + tail)
}

// Count is how many attacks are made at once.
func (s *Strangers) Count() int { return len(s.chosen()) }

// chosen are the attacks that were asked for.
func (s *Strangers) chosen() []attack {
	return slices.DeleteFunc(s.all(), func(a attack) bool {
		return !slices.ContainsFunc(strings.Split(s.only, ","), func(part string) bool { return strings.Contains(a.name, part) })
	})
}

// all are the attacks.
func (s *Strangers) all() []attack {
	const mib = 1 << 20
	tasks := "/v1/sessions/" + s.session + "/tasks"
	messages := "/v1/sessions/" + s.session + "/messages"
	post := func(name, path string, conns int, body []byte) attack {
		return attack{name, conns, func(context.Context) int { return s.status("POST", path, body) }}
	}
	large := []byte(`{"persona_id":"persona_echo","input":{"role":"user","parts":[{"type":"text","text":"` + strings.Repeat("z", 30*mib) + `"}]}}`)
	return []attack{
		post("initial messages", "/v1/sessions", 2, listOf(`{"workspace_id":"`+s.workspace+`","initial_messages":[`, `{"role":"user","parts":[]}`, 10*mib, `]}`)),
		post("parts", messages, 2, listOf(`{"message":{"role":"user","parts":[`, `{}`, 8*mib, `]}}`)),
		post("metadata", tasks, 2, listOf(`{"persona_id":"persona_echo","input":{"x":1},"metadata":{"x":[`, `0`, 8*mib, `]}}`)),
		post("large Tasks", tasks, 2, large),
		{"lists of large Tasks", 3, func(context.Context) int { return s.status("GET", "/v1/tasks?limit=200", nil) }},
		{"streams that nobody reads", 1, s.unreadStreams},
		{"bodies without a key", 1, s.slowBodies},
		s.tasks("spinning guests", 4, `{"call":"spin"}`),
		s.tasks("guests that fill memory", 2, `{"call":"grow","bytes":3000}`),
		s.tasks("large host calls", 1, string(listOf(`{"call":"message.append","request":{"role":"user","parts":[`, `{}`, 4*mib, `]}}`))),
		s.tasks("models of choices", 2, `{"call":"llm.complete","request":{"model":"openai","messages":[{"role":"user","text":"x"}]}}`),
		s.tasks("models of blocks", 2, `{"call":"llm.complete","request":{"model":"anthropic","messages":[{"role":"user","text":"x"}]}}`),
		s.tasks("endless lists of tools", 1, `{"call":"tool.list","request":{}}`),
		s.schemas(),
		{"tokens of a giant key", 2, func(context.Context) int {
			status, _, _ := s.node.As(s.outside.token()).Do("GET", "/v1/tasks", nil)
			return status
		}},
	}
}

// tasks submits Tasks of one host call, waits a moment for each, and cancels it.
func (s *Strangers) tasks(name string, conns int, step string) attack {
	body := []byte(`{"persona_id":"` + s.persona + `","input":{"program":[` + step + `]}}`)
	return attack{name, conns, func(ctx context.Context) int {
		status, answer, err := s.node.Do("POST", "/v1/sessions/"+s.session+"/tasks", body)
		if err != nil || status/100 != 2 {
			return status
		}
		var task struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(answer, &task) == nil {
			pause(ctx, time.Second)
			s.status("POST", "/v1/tasks/"+task.ID+"/cancel", nil)
		}
		return status
	}}
}

// schemas submits Tasks whose input a Skill's schema takes long to check.
func (s *Strangers) schemas() attack {
	enum := listOf(`{"name":"slow","description":"d","persona_id":"persona_echo","input_schema":{"type":"object","properties":{"x":{"type":"array","items":{"enum":[`,
		`12345`, 18_000, `]}}}}}`)
	input := listOf(`{"persona_id":"persona_echo","metadata":{"skill_id":"SKILL"},"input":{"x":[`, `12345`, 800_000, `]}}`)
	var once sync.Once
	var body []byte
	return attack{"schemas", 2, func(context.Context) int {
		once.Do(func() {
			var skill struct {
				ID string `json:"id"`
			}
			if err := s.node.Call("POST", "/wharf/v1/skills", jsontext.Value(enum), &skill); err != nil {
				s.say("  no Skill was made: %v", err)
			}
			body = []byte(strings.Replace(string(input), "SKILL", skill.ID, 1))
		})
		return s.status("POST", "/v1/sessions/"+s.session+"/tasks", body)
	}}
}

// unreadStreams opens streams of a Session with large events and reads none of them.
func (s *Strangers) unreadStreams(ctx context.Context) int {
	const streams = 200
	request := s.node.StreamRequest("/v1/sessions/" + s.session + "/events/stream")
	return s.hold(ctx, streams, string(request))
}

// slowBodies begins requests without a key and does not end them.
func (s *Strangers) slowBodies(ctx context.Context) int {
	const bodies = 500
	return s.hold(ctx, bodies, "POST /hooks/nobody HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
}

// hold opens connections, sends a request on each, and closes them some seconds later.
func (s *Strangers) hold(ctx context.Context, conns int, request string) int {
	open := make([]net.Conn, 0, conns)
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for range conns {
		c, err := net.DialTimeout("tcp", s.node.Addr, time.Second)
		if err != nil {
			break
		}
		open = append(open, c)
		if _, err := c.Write([]byte(request)); err != nil {
			break
		}
	}
	pause(ctx, 5*time.Second)
	return 200
}
