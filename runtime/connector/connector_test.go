package connector

import (
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/runtime/connector/signature"

	"github.com/wharf-dev/wharf/abi"
)

type headers map[string]string

func (h headers) Get(name string) []byte {
	for key, value := range h {
		if strings.EqualFold(key, name) {
			return []byte(value)
		}
	}
	return nil
}

// TestProviders holds that what is known of each provider serves.
func TestProviders(t *testing.T) {
	names := Names()
	if strings.Join(names, " ") != "cloudevents cron generic github slack stripe" {
		t.Errorf("the providers are %v", names)
	}
	for _, name := range names {
		p, ok := Lookup(name)
		if !ok || p.Name != name || !strings.HasPrefix(p.Plugin, "connectors#") || len(p.EventKinds) == 0 {
			t.Errorf("%s is %+v", name, p)
		}
		if err := signature.Check(abi.WebhookAuth{Scheme: p.Scheme}); err != nil || p.Scheme == abi.SchemeNone {
			t.Errorf("%s is signed with %q: %v", name, p.Scheme, err)
		}
	}
	if _, ok := Lookup("nobody"); ok {
		t.Error("nobody is known")
	}
}

func TestDeliveryID(t *testing.T) {
	long := strings.Repeat("x", MaxDeliveryID+1)
	for _, test := range []struct {
		provider string
		header   headers
		body     string
		want     string
	}{
		{"github", headers{"x-github-delivery": "72d3162e"}, `{}`, "72d3162e"},
		{"github", headers{}, `{"id":"1"}`, ""},
		{"github", headers{"X-GitHub-Delivery": long}, ``, ""},
		{"github", headers{"X-GitHub-Delivery": "a b"}, ``, ""},
		{"github", headers{"X-GitHub-Delivery": "a\x00"}, ``, ""},
		{"generic", headers{"Webhook-Id": "msg_1"}, `{}`, "msg_1"},
		{"slack", headers{}, `{"event":{"event_id":"no"},"a":[1,{"event_id":"no"}],"event_id":"Ev1","x":{`, "Ev1"},
		{"slack", headers{}, `{"event_id":7}`, ""}, {"slack", headers{}, `[`, ""}, {"slack", headers{}, ``, ""}, {"slack", headers{}, `{"event_id":"` + long + `"}`, ""},
		{"stripe", headers{}, `{"object":"event","id":"evt_1"}`, "evt_1"},
		{"cloudevents", headers{"ce-id": "1", "ce-source": "/a"}, `{}`, "/a#1"},
		{"cloudevents", headers{"content-type": "application/cloudevents+json; charset=utf-8"}, `{"id":"1","source":"/a"}`, "/a#1"},
		{"cloudevents", headers{"content-type": "application/cloudevents-batch+json"}, `[{"id":"1","source":"/a"}]`, ""},
		{"cloudevents", headers{"content-type": "application/json"}, `{"id":"1","source":"/a"}`, ""},
	} {
		p, _ := Lookup(test.provider)
		if got, _ := p.DeliveryID(test.header, []byte(test.body)); got != test.want {
			t.Errorf("%s: %v %.60s: %q, want %q", test.provider, test.header, test.body, got, test.want)
		}
	}
}

func TestChallenge(t *testing.T) {
	const verify = `{"token":"x","challenge":"3eZb\u0022","type":"url_verification"}`
	for _, test := range []struct {
		provider, method string
		header           headers
		body             string
		want             string // body, or an answer's header
	}{
		{"slack", "POST", nil, verify, `{"challenge":"3eZb\""}`},
		{"slack", "POST", nil, `{"type":"event_callback","event":{"text":"url_verification"}}`, ""},
		{"slack", "POST", nil, `{"type":"url_verification"}`, ""},
		{"slack", "OPTIONS", nil, verify, ""},
		{"github", "POST", nil, verify, ""},
		{"slack", "POST", nil, verify + strings.Repeat(" ", maxChallenge), ""},
		{"cloudevents", "OPTIONS", headers{"webhook-request-origin": "events.example"}, "", "events.example"},
		{"cloudevents", "OPTIONS", headers{"webhook-request-origin": "a\r\nb"}, "", ""},
		{"cloudevents", "OPTIONS", nil, "", ""},
		{"cloudevents", "POST", headers{"webhook-request-origin": "events.example"}, "", ""},
	} {
		p, _ := Lookup(test.provider)
		answer, ok := p.Challenge(test.method, test.header, []byte(test.body))
		if got := string(answer.Body) + answer.Header["WebHook-Allowed-Origin"]; got != test.want || ok != (test.want != "") {
			t.Errorf("%s %s %.40s: %q, %v; want %q", test.provider, test.method, test.body, got, ok, test.want)
		}
	}
}

// TestBreaker holds that waits grow, that the breaker opens once, and that a success
// closes it.
func TestBreaker(t *testing.T) {
	var b Breaker
	now := time.Unix(1000, 0)
	if !b.RetryAt().IsZero() || b.Open() || b.Succeeded() {
		t.Error("a new breaker is not closed")
	}
	last := time.Duration(0)
	for n := 1; n <= TripAfter+2; n++ {
		at, tripped := b.Failed(now)
		wait := at.Sub(now)
		if tripped != (n == TripAfter) || b.Open() != (n >= TripAfter) {
			t.Errorf("failure %d: tripped %v, open %v", n, tripped, b.Open())
		}
		if !b.RetryAt().Equal(at) || wait > OpenFor || n <= TripAfter && wait <= last {
			t.Errorf("failure %d waits %s, after %s", n, wait, last)
		}
		last = wait
	}
	if !b.Succeeded() || b.Open() || !b.RetryAt().IsZero() {
		t.Error("a success does not close it")
	}
	b.Trip(now)
	if !b.Open() || !b.RetryAt().After(now) || b.RetryAt().After(now.Add(OpenFor)) {
		t.Error("one that was open before is not")
	}
	if b.Reset(); b.Open() {
		t.Error("a reset does not close it")
	}
}

// FuzzBody holds that no body makes finding its id or a challenge in it panic, or gives
// an id that is not printable.
func FuzzBody(f *testing.F) {
	f.Add(`{"event_id":"Ev1"}`, "application/json")
	f.Add(`{"id":"1","source":"/a"}`, "application/cloudevents+json")
	f.Add(`{"challenge":"c","type":"url_verification"}`, "")
	f.Fuzz(func(t *testing.T, body, media string) {
		for _, name := range Names() {
			p, _ := Lookup(name)
			h := headers{"content-type": media}
			if id, _ := p.DeliveryID(h, []byte(body)); len(id) > MaxDeliveryID || !printable(id) {
				t.Fatalf("%s: the id %q", name, id)
			}
			p.Challenge("POST", h, []byte(body))
		}
	})
}
