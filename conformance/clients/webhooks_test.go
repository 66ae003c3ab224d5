package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// delivery is a line that deliver.mjs reads.
type delivery struct {
	Scheme  string             `json:"scheme"`
	URL     string             `json:"url"`
	Secrets []string           `json:"secrets"`
	Trusted string             `json:"trusted"`
	ID      string             `json:"id"`
	Age     int                `json:"age"`
	Body    string             `json:"body"`
	Instead *string            `json:"instead,omitempty"`
	Headers map[string]*string `json:"headers,omitempty"`
}

// delivered is a line that it prints.
type delivered struct {
	Status int
	Answer struct {
		Status, Challenge string
		DeliveryID        string `json:"delivery_id"`
		Error             struct{ Code string }
	}
	Refused string
}

// deliver sends deliveries, in their order.
func deliver(t *testing.T, all ...delivery) []delivered {
	t.Helper()
	var lines bytes.Buffer
	for _, d := range all {
		if err := json.NewEncoder(&lines).Encode(d); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", "deliver.mjs")
	cmd.Stdin, cmd.Stderr = &lines, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("deliver.mjs: %v", err)
	}
	got := make([]delivered, 0, len(all))
	for line := range strings.Lines(string(out)) {
		var one delivered
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("deliver.mjs printed %q: %v", line, err)
		}
		got = append(got, one)
	}
	if len(got) != len(all) {
		t.Fatalf("%d of %d deliveries were sent", len(got), len(all))
	}
	return got
}

// sender is a provider as its own package plays it.
type sender struct {
	provider, scheme string
	settings         map[string]any
	body             func(mark string) string // one delivery, which makes a Task whose input holds the mark
	signature        string                   // the header with the signature
	idHeader         string                   // the header with the delivery id; "" when the body has it
	timed            bool                     // the time is signed
	lenient          bool                     // its package takes what is signed in the future
	several          bool                     // its header has room for several signatures
}

func senders() []sender {
	text := func(format string) func(string) string {
		return func(mark string) string { return fmt.Sprintf(format, mark, mark) }
	}
	return []sender{
		{provider: "generic", scheme: "standard-webhooks", signature: "webhook-signature", idHeader: "webhook-id", timed: true, several: true,
			settings: map[string]any{"task": map[string]any{"text": "It rains: {$.what}"}},
			body:     text(`{"id":"%s", "what":"%s — ☔\r\n"}`)},
		{provider: "github", scheme: "github", signature: "x-hub-signature-256", idHeader: "x-github-delivery",
			body: text(`{"action":"opened","number":7,"issue":{"number":7,"id":"%s","title":"%s drags","body":"…\n","user":{"login":"ada"}},` +
				`"repository":{"full_name":"harbour/boats"},"sender":{"login":"ada"}}`)},
		{provider: "slack", scheme: "slack", signature: "x-slack-signature", timed: true, lenient: true,
			body: text(`{"type":"event_callback","event_id":"%s","team_id":"T1","event":{"type":"app_mention","channel":"C1","user":"U1",` +
				`"text":"<@U2> %s?","ts":"1767323045.000200"}}`)},
		{provider: "stripe", scheme: "stripe", signature: "stripe-signature", timed: true, lenient: true, several: true,
			settings: map[string]any{"task": map[string]any{"text": "{$.type}: {$.data.object.description}"}},
			body:     text(`{"id":"%s","object":"event","type":"charge.succeeded","data":{"object":{"description":"%s"}}}`)},
	}
}

// The secrets that the Connectors of the tests know, the one that they are about to
// forget last, and one that they do not know.
const (
	newSecret     = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	oldSecret     = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	foreignSecret = "whsec_cGxlYXNlIGRvIG5vdCB0ZWxsIGFueWJvZHk="
)

// TestWebhooksOfOthers has deliveries signed by the packages with which providers, or
// those who serve them, sign. What a package takes the node takes, once; what it
// refuses the node refuses.
func TestWebhooksOfOthers(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	vault := signingVault(t, n)
	var firsts []delivery
	for _, s := range senders() {
		t.Run(s.provider, func(t *testing.T) { firsts = append(firsts, s.try(t, n, vault)) })
	}
	n.Kill(t)
	n.Run(t)
	for i, got := range deliver(t, firsts...) {
		if got.Status != 200 || got.Answer.Status != "deduped" {
			t.Errorf("%s: after the node was killed, what had been taken is answered with %+v", firsts[i].Scheme, got)
		}
	}
}

// signingVault makes a Vault with the secrets that Connectors check signatures with.
func signingVault(t *testing.T, n *nodetest.Node) string {
	t.Helper()
	vault := call(t, n, "POST", "/v1/vaults", map[string]any{
		"provider": "local", "capabilities": []string{"sign", "write"}, "access": map[string]any{"connectors": []string{"*"}},
	})["id"].(string)
	for name, value := range map[string]string{"new": newSecret, "old": oldSecret} {
		call(t, n, "PUT", "/wharf/v1/vaults/"+vault+"/secrets/"+name, map[string]any{"value": value})
	}
	return vault
}

// connector makes a Connector with a public path, and returns its id and its URL.
func (s *sender) connector(t *testing.T, n *nodetest.Node, vault string) (id, url string) {
	t.Helper()
	request := map[string]any{
		"provider": s.provider, "webhook": map[string]any{"enabled": true}, "target_persona_id": "persona_echo",
		"auth": map[string]any{"vault_id": vault, "secrets": []string{"new", "old"}},
	}
	if s.settings != nil {
		request["settings"] = s.settings
	}
	made := call(t, n, "POST", "/v1/connectors", request)
	return made["id"].(string), n.URL + made["webhook"].(map[string]any)["path"].(string)
}

// attempt is a delivery, and what should come of it.
type attempt struct {
	name    string
	change  func(*delivery)
	want    int  // the status
	refused bool // by the package
}

// try makes all attempts with a Connector of its own. It returns the first delivery.
func (s *sender) try(t *testing.T, n *nodetest.Node, vault string) delivery {
	connector, url := s.connector(t, n, vault)
	var (
		all  []delivery
		want []string
	)
	attempts := s.attempts()
	for i, a := range attempts {
		mark := fmt.Sprintf("%s_%d", s.provider, i)
		d := delivery{Scheme: s.scheme, URL: url, Secrets: []string{newSecret}, Trusted: newSecret, ID: mark, Body: s.body(mark)}
		if s.provider == "github" {
			d.Headers = map[string]*string{"x-github-event": new("issues")}
		}
		a.change(&d)
		if all = append(all, d); a.want == 202 {
			want = append(want, mark)
		}
	}
	for i, got := range deliver(t, all...) {
		a := attempts[i]
		if got.Status != a.want {
			t.Errorf("%s: %d %+v, want %d", a.name, got.Status, got.Answer, a.want)
		}
		if (got.Refused != "") != a.refused {
			t.Errorf("%s: the package says %q", a.name, got.Refused)
		}
		if got.Status == 401 && got.Answer.Error.Code != "unauthenticated" {
			t.Errorf("%s: refused as %q", a.name, got.Answer.Error.Code)
		}
	}
	got := tasksOf(t, n, connector, regexp.MustCompile(s.provider+`_\d+`))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("Tasks were made of\n%v, and 202 was the answer to\n%v", got, want)
	}
	return all[0]
}

func (s *sender) attempts() []attempt {
	hour := 60 * 60
	list := []attempt{
		{"as it should be", func(*delivery) {}, 202, false},
		{"another body", func(d *delivery) { d.Instead = new(strings.Replace(d.Body, "{", "{ ", 1)) }, 401, true},
		{"a foreign secret", func(d *delivery) { d.Secrets = []string{foreignSecret} }, 401, true},
		{"the secret that goes", func(d *delivery) { d.Secrets, d.Trusted = []string{oldSecret}, oldSecret }, 202, false},
		{"no signature", func(d *delivery) { d.header(s.signature, nil) }, 401, true},
		{"an empty signature", func(d *delivery) { d.header(s.signature, new("")) }, 401, true},
		{"a header without any signature", func(d *delivery) { d.header(s.signature, new("v1=,t=")) }, 401, true},
	}
	if s.timed {
		list = append(list,
			attempt{"four minutes old", func(d *delivery) { d.Age = 4 * 60 }, 202, false},
			attempt{"an hour old", func(d *delivery) { d.Age = hour }, 401, true},
			attempt{"an hour early", func(d *delivery) { d.Age = -hour }, 401, !s.lenient})
	}
	if s.several {
		list = append(list,
			attempt{"two signatures", func(d *delivery) { d.Secrets = []string{foreignSecret, newSecret} }, 202, false},
			attempt{"two foreign signatures", func(d *delivery) { d.Secrets = []string{foreignSecret, foreignSecret} }, 401, true})
	}
	again := func(d *delivery) { d.ID, d.Body = s.provider+"_0", s.body(s.provider+"_0") }
	list = append(list,
		attempt{"the first again", again, 200, false},
		attempt{"the first again, signed with the other secret", func(d *delivery) { again(d); d.Secrets, d.Trusted = []string{oldSecret}, oldSecret }, 200, false})
	if s.idHeader != "" {
		want := 200
		if s.provider == "github" { // signs no id: one that is guessed must not keep a delivery out
			want = 202
		}
		list = append(list, attempt{"the first's id, and another body", func(d *delivery) { d.ID = s.provider + "_0" }, want, false})
	}
	return list
}

// header sets a header of a delivery, or leaves it out.
func (d *delivery) header(name string, value *string) {
	if d.Headers == nil {
		d.Headers = map[string]*string{}
	}
	d.Headers[name] = value
}

// tasksOf waits until a Connector has handled what it took, and returns the mark in the
// input of each of its Tasks, sorted.
func tasksOf(t *testing.T, n *nodetest.Node, connector string, mark *regexp.Regexp) []string {
	t.Helper()
	wait(t, "the deliveries to be handled", func() bool {
		counters := call(t, n, "GET", "/v1/connectors/"+connector, nil)["counters"].(map[string]any)
		return counters["pending"].(float64) == 0
	})
	marks := []string{}
	for _, task := range list(t, n, "/v1/tasks") {
		if task["created_by"] != connector {
			continue
		}
		input, err := json.Marshal(task["input"])
		if err != nil {
			t.Fatal(err)
		}
		marks = append(marks, mark.FindString(string(input)))
	}
	slices.Sort(marks)
	return marks
}

// wait asks again and again until the answer is yes, for a minute at most.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	end := time.After(time.Minute)
	for !done() {
		select {
		case <-look.C:
		case <-end:
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

// TestSlackVerifiesURLs holds that the node answers the request with which Slack makes
// sure of a URL, when it is signed, and takes it for no delivery.
func TestSlackVerifiesURLs(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	s := sender{provider: "slack", scheme: "slack"}
	connector, url := s.connector(t, n, signingVault(t, n))
	ask := delivery{Scheme: "slack", URL: url, Secrets: []string{newSecret}, Trusted: newSecret,
		Body: `{"token":"Jhj5dZrVaK7ZwHHjRyZWjbDl","challenge":"3eZbrw1aB10U","type":"url_verification"}`}
	forged := ask
	forged.Secrets = []string{foreignSecret}
	got := deliver(t, ask, forged)
	if got[0].Status != 200 || got[0].Answer.Challenge != "3eZbrw1aB10U" {
		t.Errorf("it is answered with %+v", got[0])
	}
	if got[1].Status != 401 || got[1].Answer.Challenge != "" {
		t.Errorf("when somebody else asks, it is answered with %+v", got[1])
	}
	counters := call(t, n, "GET", "/v1/connectors/"+connector, nil)["counters"].(map[string]any)
	if counters["received"].(float64) != 0 {
		t.Errorf("it was taken for a delivery: %v", counters)
	}
}
