package outbox_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/outbox"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// room is an outbox by itself, with a receiver that the test plays.
type room struct {
	*roomtest.House
	*outbox.Outbox
	t        testing.TB
	receiver *receiver
	values   roomtest.Values
	config   outbox.Config
	events   int
	tasks    int
	disk     *memory.Store
	room     chan struct{} // closed when the disk has room; nil: it has
}

// values are those of a room, which queues that end at once use together.
type values struct {
	mu sync.Mutex
	roomtest.Values
}

func (v *values) Seal(ctx context.Context, id string, version int, value []byte) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Values.Seal(ctx, id, version, value)
}

func (v *values) Open(ctx context.Context, id string, version int, sealed string) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Values.Open(ctx, id, version, sealed)
}

func (v *values) Keep(id string, version int) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Values.Keep(id, version)
}

// disk is a store that the room knows the last life of.
type disk struct {
	*memory.Store
	in *room
}

func (d disk) Reopen() disk {
	d.Store = d.Store.Reopen()
	d.in.disk = d.Store
	return d
}

func newRoom(t testing.TB, c outbox.Config) *room {
	r := &room{t: t, receiver: &receiver{}, values: roomtest.Values{}, config: c, disk: memory.New(time.Now)}
	r.House = roomtest.New(t, disk{r.disk, r})
	r.furnish()
	t.Cleanup(r.drain)
	return r
}

func (r *room) furnish() {
	r.Outbox = outbox.New(outbox.Parts{Parts: r.Parts, Config: r.config, Entropy: rand.Reader, Values: &values{Values: r.values}, Send: r.receiver,
		Tenants: func() []*abi.Tenant { return []*abi.Tenant{{Number: uint32(roomtest.Tenant)}} },
		Jitter:  func() float64 { return 0 },
		Room: func(ctx context.Context) error {
			if r.room == nil {
				return nil
			}
			select {
			case <-r.room:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
		Show: func(ev desk.Event) []byte {
			return fmt.Appendf(nil, `{"id":%q,"event":%q}`, ev.Position().String(), ev.Record().Kind)
		},
		Formats: []outbox.Format{{Name: "short", Delays: []time.Duration{time.Second}, Write: func(_ context.Context, n *outbox.Notice) (outbox.Message, error) {
			return outbox.Message{ContentType: "text/plain", Header: map[string]string{"X-Kind": string(n.Kind)},
				Body: []byte(n.EventID), Skip: n.Kind == abi.EventTaskStarted}, nil
		}}, inOrder},
		LeaveOut: func(_ storage.Tenant, _ abi.Object, id string, cause error) {
			r.t.Errorf("%s is left out: %v", id, cause)
		}})
	if err := r.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// drain ends the outbox at once.
func (r *room) drain() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Drain(over); err != nil {
		r.t.Error(err)
	}
}

// crash ends the node where it is, and begins another one.
func (r *room) crash() {
	old := r.Outbox
	r.Crash()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = old.Drain(over) // it can write nothing any more
	r.furnish()
}

// receiver answers deliveries as the test says, and remembers them.
type receiver struct {
	mu     sync.Mutex
	got    []delivered
	answer func(d *delivered) *http.Response // nil: 200
}

type delivered struct {
	host, id string
	header   http.Header
	body     string
	at       time.Time
	ctx      context.Context
}

func (s *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(req.Body)
	d := delivered{req.URL.Host, req.Header.Get("webhook-id"), req.Header, string(body), time.Now(), req.Context()}
	s.mu.Lock()
	s.got = append(s.got, d)
	answer := s.answer
	s.mu.Unlock()
	if answer == nil {
		return status(200), nil
	}
	if resp := answer(&d); resp != nil {
		return resp, nil
	}
	return nil, errors.New("connection refused")
}

func (s *receiver) answers(f func(d *delivered) *http.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func status(code int) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("thanks"))}
}

// taken returns what has come so far, and forgets it.
func (s *receiver) taken() []delivered {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

// ids returns the ids of the events that have come, in their order.
func ids(all []delivered) (list []string) {
	for _, d := range all {
		list = append(list, strings.Split(d.body, `"`)[3])
	}
	return list
}

func wants(events ...string) abi.CreateWebhookRequest {
	return abi.CreateWebhookRequest{WorkspaceID: roomtest.Workspace, URL: "https://a.test/in?key=1", Events: events}
}

// webhook makes a Webhook, and returns it with its secret.
func (r *room) webhook(req abi.CreateWebhookRequest) (abi.WebhookEndpoint, string) {
	r.t.Helper()
	doc, err := r.CreateWebhook(r.t.Context(), r.Root(), nil, req)
	if err != nil {
		r.t.Fatal(err)
	}
	shown := roomtest.As[struct {
		Secret string `json:"secret"`
	}](r.t, doc)
	return roomtest.As[abi.WebhookEndpoint](r.t, doc), shown.Secret
}

// happen writes an event of a Task, and returns its id.
func (r *room) happen(kind abi.EventKind, workspace string) string {
	r.t.Helper()
	r.events++
	_, at, err := r.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: workspace, SessionID: roomtest.Session, TaskID: "task_a"}, nil, 0,
		ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: fmt.Sprint("task_", r.events), Created: true, State: map[string]string{"persona_id": "persona_a"}})
	if err != nil {
		r.t.Fatal(err)
	}
	return at.String()
}

func (r *room) shown(id string) abi.WebhookEndpoint {
	r.t.Helper()
	doc, err := r.Webhook(r.t.Context(), r.Root(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return roomtest.As[abi.WebhookEndpoint](r.t, doc)
}

func (r *room) update(id string, req abi.UpdateWebhookRequest) {
	r.t.Helper()
	if _, err := r.UpdateWebhook(r.t.Context(), r.Root(), nil, id, req); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) setStatus(id string, s abi.WebhookStatus) {
	r.t.Helper()
	r.update(id, abi.UpdateWebhookRequest{Status: &s})
}

// deliveries returns those that were recorded, oldest first.
func (r *room) deliveries(id string, s abi.WebhookDeliveryStatus) (all []abi.WebhookDelivery) {
	r.t.Helper()
	list, err := r.WebhookDeliveries(r.t.Context(), r.Root(), id, s, desk.Page{Limit: 200})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, doc := range list.Docs {
		all = append(all, roomtest.As[abi.WebhookDelivery](r.t, doc))
	}
	slices.Reverse(all)
	return all
}

func want[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// A receiver gets each event that its Webhook wants, once, as long as it takes them and the node
// lives; and nothing else, and nothing from before.
func TestWhatIsWantedIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		r.NewWorkspace(t, "ws_other")
		r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		w, _ := r.webhook(wants("task.completed", "session.*"))
		var expected []string
		for range 300 {
			expected = append(expected, r.happen(abi.EventTaskCompleted, roomtest.Workspace))
			r.happen(abi.EventTaskStarted, roomtest.Workspace)
			r.happen(abi.EventTaskCompleted, "ws_other")
		}
		expected = append(expected, r.happen(abi.EventSessionClosed, roomtest.Workspace))
		synctest.Wait()
		got := ids(r.receiver.taken())
		slices.Sort(got)
		slices.Sort(expected)
		want(t, "sent", got, expected)
		time.Sleep(time.Minute)
		r.crash()
		time.Sleep(time.Hour)
		want(t, "sent again", ids(r.receiver.taken()), nil)
		if c := r.shown(w.ID).Counters; c.Taken != 301 || c.Failed+c.Dead+c.Pending != 0 || !c.OldestAt.IsZero() {
			t.Errorf("counted: %+v", c)
		}
		if got := r.deliveries(w.ID, ""); len(got) != 0 {
			t.Errorf("recorded: %+v", got)
		}
	})
}

// Each filter lets through what it says.
func TestWebhooksNarrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		r.State(t, roomtest.Workspace, roomtest.Session, abi.EventTaskSubmitted, abi.ObjectTask, "task_a", map[string]string{"persona_id": "persona_a"})
		for name, set := range map[string]func(*abi.CreateWebhookRequest){
			"all": func(req *abi.CreateWebhookRequest) { req.WorkspaceID = "" }, "session": func(req *abi.CreateWebhookRequest) { req.SessionID = roomtest.Session },
			"task": func(req *abi.CreateWebhookRequest) { req.TaskID = "task_a" }, "persona": func(req *abi.CreateWebhookRequest) { req.PersonaID = "persona_a" },
			"no session": func(req *abi.CreateWebhookRequest) { req.SessionID = "sess_b" }, "no task": func(req *abi.CreateWebhookRequest) { req.TaskID = "task_b" },
			"no persona": func(req *abi.CreateWebhookRequest) { req.PersonaID = "persona_b" },
		} {
			req := wants("task.completed")
			req.URL = "https://" + strings.ReplaceAll(name, " ", "-") + ".test"
			set(&req)
			r.webhook(req)
		}
		r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		synctest.Wait()
		var hosts []string
		for _, d := range r.receiver.taken() {
			hosts = append(hosts, d.host)
		}
		slices.Sort(hosts)
		want(t, "sent to", hosts, []string{"all.test", "persona.test", "session.test", "task.test"})
	})
}

// What is sent is signed with each secret that is valid, so that a receiver can be given a new
// one without missing anything; and with none that is over.
func TestDeliveriesAreSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		req := wants("task.*")
		req.Signature, req.Headers = &abi.WebhookSignature{Header: "X-Hub-Signature-256"}, map[string]string{"Authorization": "Bearer T0KEN"}
		w, first := r.webhook(req)
		doc, err := r.RotateWebhook(t.Context(), r.Root(), nil, w.ID, abi.RotateWebhookRequest{OverlapSeconds: 60})
		if err != nil {
			t.Fatal(err)
		}
		second := roomtest.As[struct {
			Secret string `json:"secret"`
		}](t, doc).Secret
		if !strings.HasPrefix(first, "whsec_") || first == second {
			t.Fatalf("the secrets are %q and %q", first, second)
		}
		r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		synctest.Wait()
		d := r.receiver.taken()[0]
		for _, err := range []error{verified(abi.SchemeStandard, first, &d), verified(abi.SchemeStandard, second, &d), verified(abi.SchemeGitHub, second, &d)} {
			if err != nil {
				t.Error(err)
			}
		}
		if got := d.header.Get("Authorization"); got != "Bearer T0KEN" {
			t.Errorf("the header is %q", got)
		}
		time.Sleep(time.Minute)
		r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		synctest.Wait()
		d = r.receiver.taken()[0]
		if verified(abi.SchemeStandard, first, &d) == nil || verified(abi.SchemeStandard, second, &d) != nil {
			t.Error("a minute later the first secret signs, or the second does not")
		}
		r.secretsStaySecret(first, second, "T0KEN")
	})
}

// verified checks a delivery as its receiver does.
func verified(scheme abi.SignatureScheme, secret string, d *delivered) error {
	v, err := signature.New(abi.WebhookAuth{Scheme: scheme}, [][]byte{[]byte(secret)})
	if err != nil {
		return err
	}
	_, err = v.Verify(header{d.header}, []byte(d.body), time.Now())
	return err
}

type header struct{ http.Header }

func (h header) Get(name string) []byte { return []byte(h.Header.Get(name)) }

// secretsStaySecret looks for values in all that can be read.
func (r *room) secretsStaySecret(values ...string) {
	r.t.Helper()
	events, _, err := r.Desk.Events(r.t.Context(), r.Root(), desk.Filter{}, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	list, err := r.Webhooks(r.t.Context(), r.Root(), desk.Filter{}, desk.Page{Limit: 10})
	if err != nil {
		r.t.Fatal(err)
	}
	var all []byte
	for _, ev := range events {
		all = append(append(all, ev.Record().State...), ev.Record().Payload...)
	}
	for _, doc := range list.Docs {
		all = append(all, doc.JSON...)
	}
	for _, v := range values {
		if bytes.Contains(all, []byte(v)) {
			r.t.Errorf("%s is told", v)
		}
	}
}

// A delivery that is not taken is tried again after longer and longer waits, with the same id,
// and given up in the end. It can be driven again.
func TestRetriesAndDeadLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{Attempts: 4})
		w, _ := r.webhook(wants("task.*"))
		r.receiver.answers(func(*delivered) *http.Response { return status(500) })
		event := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		begun := time.Now()
		time.Sleep(24 * time.Hour)
		got := r.receiver.taken()
		var waits []time.Duration
		for _, d := range got {
			waits = append(waits, d.at.Sub(begun))
			if d.id != got[0].id {
				t.Errorf("the ids are %s and %s", d.id, got[0].id)
			}
		}
		want(t, "attempts after", waits, []time.Duration{0, 5 * time.Second, 25 * time.Second, 105 * time.Second})
		dead := r.deliveries(w.ID, abi.WebhookDeliveryDead)
		if len(dead) != 1 || dead[0].EventID != event || dead[0].Attempts != 4 || dead[0].HTTPStatus != 500 || dead[0].Failure.Code != abi.WebhookStatusFailure {
			t.Fatalf("dead: %+v", dead)
		}
		r.receiver.answers(nil)
		if _, err := r.RedriveWebhookDelivery(t.Context(), r.Root(), nil, w.ID, dead[0].ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		want(t, "driven again", ids(r.receiver.taken()), []string{event})
		if done := r.deliveries(w.ID, abi.WebhookDeliveryDelivered); len(done) != 1 || done[0].RedrivenAt.IsZero() || done[0].Failure != nil {
			t.Errorf("delivered: %+v", done)
		}
		_, err := r.RedriveWebhookDelivery(t.Context(), r.Root(), nil, w.ID, dead[0].ID)
		roomtest.WantCode(t, err, abi.CodeConflict)
		if c := r.shown(w.ID).Counters; c.Taken != 1 || c.Failed != 4 || c.Dead != 1 || c.Redriven != 1 || c.Pending != 0 {
			t.Errorf("counted: %+v", c)
		}
	})
}

// While the disk has no room for new work, what happens is told all the same, and what was not taken waits: none of it is
// given up meanwhile.
func TestRetriesWaitForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{Attempts: 4})
		r.room = make(chan struct{})
		w, _ := r.webhook(wants("task.*"))
		r.receiver.answers(func(*delivered) *http.Response { return status(500) })
		event := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		time.Sleep(24 * time.Hour)
		want(t, "sent", ids(r.receiver.taken()), []string{event})
		if dead := r.deliveries(w.ID, abi.WebhookDeliveryDead); len(dead) != 0 {
			t.Errorf("dead: %+v", dead)
		}
		r.receiver.answers(nil)
		close(r.room)
		synctest.Wait()
		want(t, "sent again", ids(r.receiver.taken()), []string{event})
	})
}

// What a receiver asks for is respected: to wait, and to be left alone.
func TestWhatReceiversAskFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		w, _ := r.webhook(wants("task.*"))
		begun := time.Now()
		r.receiver.answers(func(*delivered) *http.Response {
			resp := status(503)
			resp.Header.Set("Retry-After", "90")
			return resp
		})
		first := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		synctest.Wait()
		r.receiver.answers(nil)
		second := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		r.receiver.taken()
		time.Sleep(89 * time.Second)
		want(t, "sent before", ids(r.receiver.taken()), nil)
		time.Sleep(2 * time.Second)
		got := ids(r.receiver.taken())
		slices.SortFunc(got, func(a, b string) int { return len(a) - len(b) + strings.Compare(a, b) })
		want(t, "sent after "+time.Since(begun).String(), got, []string{first, second})

		r.receiver.answers(func(*delivered) *http.Response { return status(410) })
		r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		synctest.Wait()
		if w := r.shown(w.ID); w.Status != abi.WebhookDisabled || w.StatusReason == "" {
			t.Errorf("after 410 it is %s, %q", w.Status, w.StatusReason)
		}
		r.receiver.answers(nil)
		r.receiver.taken()
		r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		time.Sleep(time.Hour)
		want(t, "sent", ids(r.receiver.taken()), nil)
		if dead := r.deliveries(w.ID, abi.WebhookDeliveryDead); len(dead) != 1 || dead[0].Failure.Code != abi.WebhookGone {
			t.Errorf("dead: %+v", dead)
		}
	})
}

// Whether an event is sent is decided when it happens: by what the Webhook wanted then, whatever
// becomes of the Webhook and of the node before it is sent.
func TestWhatIsSentIsDecidedWhenItHappens(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprint("crash ", crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t, outbox.Config{})
				w, _ := r.webhook(wants("task.completed"))
				r.setStatus(w.ID, abi.WebhookPaused)
				expected := []string{r.happen(abi.EventTaskCompleted, roomtest.Workspace)}
				r.happen(abi.EventTaskFailed, roomtest.Workspace)
				r.update(w.ID, abi.UpdateWebhookRequest{Events: []string{"task.failed"}})
				r.happen(abi.EventTaskCompleted, roomtest.Workspace)
				expected = append(expected, r.happen(abi.EventTaskFailed, roomtest.Workspace))
				r.setStatus(w.ID, abi.WebhookDisabled)
				r.happen(abi.EventTaskFailed, roomtest.Workspace)
				time.Sleep(2 * time.Hour)
				want(t, "sent before", ids(r.receiver.taken()), nil)
				r.setStatus(w.ID, abi.WebhookPaused)
				expected = append(expected, r.happen(abi.EventTaskFailed, roomtest.Workspace))
				if crash {
					r.crash()
				}
				r.setStatus(w.ID, abi.WebhookActive)
				time.Sleep(time.Minute)
				got := ids(r.receiver.taken())
				slices.Sort(got)
				slices.Sort(expected)
				want(t, "sent", got, expected)
			})
		})
	}
}

// What waits for too long is given up, also while the Webhook is paused; until then retention
// leaves it alone, and afterwards no longer.
func TestNothingWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{Age: 48 * time.Hour})
		w, _ := r.webhook(wants("task.*"))
		r.setStatus(w.ID, abi.WebhookPaused)
		event := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		retain := func() bool {
			if _, err := r.disk.Retain(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			at, _ := desk.ParsePosition(event)
			_, err := r.Desk.Event(t.Context(), r.Root(), at)
			return err == nil
		}
		time.Sleep(47 * time.Hour)
		if !retain() {
			t.Error("retention has removed what waits")
		}
		r.crash()
		time.Sleep(2 * time.Hour)
		dead := r.deliveries(w.ID, abi.WebhookDeliveryDead)
		if len(dead) != 1 || dead[0].EventID != event || dead[0].Attempts != 0 || dead[0].Failure.Code != abi.WebhookTooOld {
			t.Fatalf("dead: %+v", dead)
		}
	})
}

// Over crashes at any moment, with a receiver that answers anything or nothing, each event that
// is wanted comes at least once, and always with the same id.
func TestNothingIsLostOverCrashes(t *testing.T) {
	for seed := range 20 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t, outbox.Config{Attempts: 1000, First: time.Second, Longest: time.Minute})
				w, _ := r.webhook(wants("task.completed"))
				n, wanted, taken := seed, map[string]bool{}, map[string]string{}
				var mu sync.Mutex
				r.receiver.answers(func(d *delivered) *http.Response {
					mu.Lock()
					n = (n*1103515245 + 12345) & 0x7fffffff
					choice := n >> 8 % 8
					id := strings.Split(d.body, `"`)[3]
					if was := taken[id]; was != "" && was != d.id {
						t.Errorf("event %s came as %s and as %s", id, was, d.id)
					}
					if choice > 2 {
						taken[id] = d.id
					}
					mu.Unlock()
					switch choice {
					case 0:
						return status(500)
					case 1:
						return nil
					case 2, 3: // it hangs: and has taken it, or not
						select {
						case <-d.ctx.Done():
						case <-time.After(10 * time.Second):
						}
						return nil
					}
					return status(200)
				})
				for i := range 60 {
					wanted[r.happen(abi.EventTaskCompleted, roomtest.Workspace)] = true
					r.happen(abi.EventTaskFailed, roomtest.Workspace)
					time.Sleep(time.Duration((seed+i)%7) * 100 * time.Millisecond)
					if i%9 == seed%9 {
						r.crash()
					}
				}
				time.Sleep(3 * time.Hour)
				mu.Lock()
				defer mu.Unlock()
				for id := range wanted {
					if taken[id] == "" {
						t.Errorf("event %s has not come", id)
					}
				}
				if len(taken) != len(wanted) {
					t.Errorf("%d events came, and %d were wanted", len(taken), len(wanted))
				}
				if c := r.shown(w.ID).Counters; c.Pending != 0 || c.Dead != 0 || !c.OldestAt.IsZero() {
					t.Errorf("counted: %+v", c)
				}
			})
		})
	}
}

// A receiver that is gone, or hangs, keeps no other waiting, and is asked ever more rarely. When
// it is back it gets everything.
func TestReceiversDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		gone, _ := r.webhook(wants("task.*"))
		req := wants("task.*")
		req.URL = "https://b.test"
		r.webhook(req)
		hangs := func(d *delivered) *http.Response {
			if d.host == "a.test" {
				<-d.ctx.Done()
				return nil
			}
			return status(200)
		}
		r.receiver.answers(hangs)
		count := func() (n map[string]int) {
			n = map[string]int{}
			for _, d := range r.receiver.taken() {
				n[d.host]++
			}
			return n
		}
		for range 500 {
			r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		}
		synctest.Wait()
		if n := count(); n["b.test"] != 500 || n["a.test"] != 1 {
			t.Errorf("sent: %v", n)
		}
		time.Sleep(12 * time.Hour)
		if n := count()["a.test"]; n > 12*30 {
			t.Errorf("the receiver that hangs was asked %d times", n)
		}
		r.receiver.answers(nil)
		time.Sleep(10 * time.Minute)
		if c := r.shown(gone.ID).Counters; c.Taken != 500 || c.Pending != 0 {
			t.Errorf("when it is back: %+v", c)
		}
	})
}

// What waits behind one slow answer goes on at once when that has come, however much was taken
// meanwhile: the next events are read although nothing new happens.
func TestOneSlowAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		r.webhook(wants("task.*"))
		answer := make(chan struct{})
		var asked atomic.Int64
		r.receiver.answers(func(*delivered) *http.Response {
			if asked.Add(1) == 3 { // two at a time by now
				<-answer
			}
			return status(200)
		})
		for range 1000 {
			r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		}
		synctest.Wait()
		if n := asked.Load(); n < 100 || n >= 1000 {
			t.Fatalf("%d were sent before the slow answer", n)
		}
		close(answer)
		synctest.Wait()
		if n := asked.Load(); n != 1000 {
			t.Errorf("%d were sent after it, want 1000", n)
		}
	})
}

// An adapter writes deliveries as its protocol has them, and says when to try again.
func TestFormats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		req := wants("task.*")
		req.Format = "short"
		w, secret := r.webhook(req)
		r.receiver.answers(func(*delivered) *http.Response { return status(500) })
		r.happen(abi.EventTaskStarted, roomtest.Workspace)
		id := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		time.Sleep(time.Hour)
		got := r.receiver.taken()
		if len(got) != 2 || got[0].body != id || got[0].header.Get("Content-Type") != "text/plain" || got[0].header.Get("X-Kind") != "task.completed" {
			t.Fatalf("sent: %+v", got)
		}
		if err := verified(abi.SchemeStandard, secret, &delivered{header: got[1].header, body: got[1].body}); err == nil {
			t.Error("a signature of an hour ago is taken")
		}
		if dead := r.deliveries(w.ID, abi.WebhookDeliveryDead); len(dead) != 1 || dead[0].Attempts != 2 {
			t.Errorf("dead: %+v", dead)
		}
	})
}

// Nothing is sent to an address that is not public, whatever name leads there, and redirects are
// not followed.
func TestTheGuard(t *testing.T) {
	asked := 0
	var target *httptest.Server
	target = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if asked++; req.URL.Path == "/from" {
			http.Redirect(w, req, target.URL+"/to", http.StatusTemporaryRedirect)
		}
	}))
	defer target.Close()
	named := strings.Replace(target.URL, "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct {
		private bool
		url     string
		code    string
		asked   int
	}{
		"private":  {false, named, abi.WebhookDenied, 0},
		"granted":  {true, named, "", 1},
		"redirect": {true, target.URL + "/from", abi.WebhookRedirected, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := &room{House: roomtest.New(t, memory.New(time.Now)), t: t, values: roomtest.Values{}}
			r.Outbox = outbox.New(outbox.Parts{Parts: r.Parts, Config: outbox.Config{Private: c.private}, Entropy: rand.Reader, Values: r.values,
				Tenants: func() []*abi.Tenant { return nil }})
			t.Cleanup(r.drain)
			asked = 0
			req := wants("task.*")
			req.URL = c.url
			w, _ := r.webhook(req)
			tried, err := r.TryWebhook(t.Context(), r.Root(), w.ID)
			if err != nil {
				t.Fatal(err)
			}
			code := ""
			if tried.Failure != nil {
				code = tried.Failure.Code
			}
			if code != c.code || tried.Taken != (c.code == "") || asked != c.asked {
				t.Errorf("%+v %s after %d requests, want %q after %d", tried, code, asked, c.code, c.asked)
			}
			if strings.Contains(fmt.Sprint(tried.Failure), "127.0.0.1") {
				t.Errorf("the failure tells the address: %v", tried.Failure)
			}
		})
	}
}

// What makes no Webhook is refused, by the name of what is wrong.
func TestWebhooksAreChecked(t *testing.T) {
	r := newRoom(t, outbox.Config{Most: 1})
	for name, c := range map[string]struct {
		param string
		set   func(*abi.CreateWebhookRequest)
	}{
		"no url":          {"url", func(q *abi.CreateWebhookRequest) { q.URL = "" }},
		"relative":        {"url", func(q *abi.CreateWebhookRequest) { q.URL = "/in" }},
		"scheme":          {"url", func(q *abi.CreateWebhookRequest) { q.URL = "ftp://a.test" }},
		"user":            {"url", func(q *abi.CreateWebhookRequest) { q.URL = "https://u:p@a.test" }},
		"loopback":        {"url", func(q *abi.CreateWebhookRequest) { q.URL = "https://127.0.0.1" }},
		"mapped":          {"url", func(q *abi.CreateWebhookRequest) { q.URL = "https://[::ffff:10.0.0.1]" }},
		"long":            {"url", func(q *abi.CreateWebhookRequest) { q.URL = "https://a.test/" + strings.Repeat("x", 3000) }},
		"no events":       {"events", func(q *abi.CreateWebhookRequest) { q.Events = nil }},
		"an empty event":  {"events", func(q *abi.CreateWebhookRequest) { q.Events = []string{""} }},
		"its own events":  {"events", func(q *abi.CreateWebhookRequest) { q.Events = []string{"vendor.wharf.webhook_progress"} }},
		"two stars":       {"events", func(q *abi.CreateWebhookRequest) { q.Events = []string{"**"} }},
		"a short secret":  {"secret", func(q *abi.CreateWebhookRequest) { q.Secret = "abc" }},
		"a broken secret": {"secret", func(q *abi.CreateWebhookRequest) { q.Secret = strings.Repeat("a", 20) + "\n" }},
		"host":            {"headers", func(q *abi.CreateWebhookRequest) { q.Headers = map[string]string{"Host": "b"} }},
		"two of one name": {"headers", func(q *abi.CreateWebhookRequest) { q.Headers = map[string]string{"x-a": "1", "X-A": "2"} }},
		"a broken header": {"headers", func(q *abi.CreateWebhookRequest) { q.Headers = map[string]string{"X-A": "1\r\nX-B: 2"} }},
		"the signature":   {"signature.header", func(q *abi.CreateWebhookRequest) { q.Signature = &abi.WebhookSignature{Header: "webhook-id"} }},
		"format":          {"format", func(q *abi.CreateWebhookRequest) { q.Format = "none" }},
		"status":          {"status", func(q *abi.CreateWebhookRequest) { q.Status = "ON" }},
		"no id of a task": {"task_id", func(q *abi.CreateWebhookRequest) { q.TaskID = "sess_1" }},
		"broken metadata": {"metadata", func(q *abi.CreateWebhookRequest) { q.Metadata = []byte(`1`) }},
	} {
		t.Run(name, func(t *testing.T) {
			req := wants("task.*")
			c.set(&req)
			_, err := r.CreateWebhook(t.Context(), r.Root(), nil, req)
			roomtest.WantParam(t, err, c.param)
		})
	}
	r.webhook(wants("task.*"))
	_, err := r.CreateWebhook(t.Context(), r.Root(), nil, wants("task.*"))
	roomtest.WantCode(t, err, abi.CodeConflict)
}

// Who has no part in a Webhook cannot see, change, try or drive it. Its address is shown to those
// who may change it.
func TestWebhooksAreSeenWhereTheyBelong(t *testing.T) {
	r := newRoom(t, outbox.Config{})
	own, _ := r.webhook(wants("task.*"))
	all := wants("task.*")
	all.WorkspaceID = ""
	wide, _ := r.webhook(all)
	strangers := r.Strangers()
	check := func(who string, c *desk.Caller, id string) {
		on := abi.WebhookActive
		for what, do := range map[string]func() error{
			"get": func() error { _, err := r.Webhook(t.Context(), c, id); return err },
			"update": func() error {
				_, err := r.UpdateWebhook(t.Context(), c, nil, id, abi.UpdateWebhookRequest{Status: &on})
				return err
			},
			"rotate": func() error {
				_, err := r.RotateWebhook(t.Context(), c, nil, id, abi.RotateWebhookRequest{})
				return err
			},
			"try":  func() error { _, err := r.TryWebhook(t.Context(), c, id); return err },
			"list": func() error { _, err := r.WebhookDeliveries(t.Context(), c, id, "", desk.Page{Limit: 1}); return err },
			"drive": func() error {
				_, err := r.RedriveWebhookDeliveries(t.Context(), c, nil, id, desk.Page{Limit: 1})
				return err
			},
			"delete": func() error { return r.DeleteWebhook(t.Context(), c, nil, id) },
		} {
			if own, ok := errors.AsType[*abi.Error](do()); !ok || own.Code != abi.CodeResourceNotFound {
				t.Errorf("one %s can %s %s: %v", who, what, id, own)
			}
		}
	}
	for who, c := range strangers {
		check(who, c, own.ID)
		check(who, c, wide.ID)
	}
	check("bound to its workspace", r.Bound(roomtest.Workspace), wide.ID)
	_, err := r.CreateWebhook(t.Context(), r.Bound(roomtest.Workspace, "ws_b"), nil, all)
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	list, err := r.Webhooks(t.Context(), r.Bound(roomtest.Workspace), desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 || list.Docs[0].ID != own.ID {
		t.Errorf("one bound to the workspace sees %v, %v", list.Docs, err)
	}
	doc, err := r.Webhook(t.Context(), r.With("webhooks:read"), own.ID)
	if err != nil || roomtest.As[abi.WebhookEndpoint](t, doc).URL != "https://a.test" {
		t.Errorf("a reader sees %s, %v", doc.JSON, err)
	}
}

// A Webhook that is deleted is sent nothing more, and its secrets are gone.
func TestDeletedWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		req := wants("task.*")
		req.Headers = map[string]string{"X-A": "1"}
		w, _ := r.webhook(req)
		r.receiver.answers(func(*delivered) *http.Response { return status(500) })
		r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		synctest.Wait()
		retry := roomtest.Retry("k", "")
		for range 2 {
			if err := r.DeleteWebhook(t.Context(), r.Root(), retry, w.ID); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.values) != 0 {
			t.Errorf("%d values are left", len(r.values))
		}
		r.receiver.taken()
		r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		r.crash()
		r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		time.Sleep(24 * time.Hour)
		want(t, "sent", ids(r.receiver.taken()), nil)
		_, err := r.Webhook(t.Context(), r.Root(), w.ID)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	})
}

// A secret is told to who has made it, also when the request comes again, and to nobody else.
func TestSecretsAreShownOnce(t *testing.T) {
	r := newRoom(t, outbox.Config{})
	for range 2 {
		doc, err := r.CreateWebhook(t.Context(), r.Root(), roomtest.Retry("k", `{"url":"https://a.test"}`), wants("task.*"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(doc.JSON), `"secret":"whsec_`) {
			t.Errorf("the answer is %s", doc.JSON)
		}
	}
	list, err := r.Webhooks(t.Context(), r.Root(), desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 || strings.Contains(string(list.Docs[0].JSON), "whsec_") {
		t.Errorf("webhooks: %v, %v", list.Docs, err)
	}
}

// Behind an event whose delivery hangs, others go on. After a crash that one is sent, for it was
// wanted when it happened, and what was given up meanwhile is not.
func TestCrashBehindADeliveryThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{Attempts: 1})
		w, _ := r.webhook(wants("task.completed"))
		for range 4 { // by then several go at a time
			r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		}
		synctest.Wait()
		r.receiver.taken()
		r.receiver.answers(func(d *delivered) *http.Response {
			if strings.Contains(d.body, "task.failed") {
				return status(500)
			}
			<-d.ctx.Done()
			return nil
		})
		hangs := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		synctest.Wait()
		r.update(w.ID, abi.UpdateWebhookRequest{Events: []string{"task.failed"}})
		failed := r.happen(abi.EventTaskFailed, roomtest.Workspace)
		time.Sleep(10 * time.Second)
		want(t, "sent", ids(r.receiver.taken()), []string{hangs, failed})
		r.receiver.answers(nil)
		r.crash()
		time.Sleep(time.Hour)
		want(t, "sent after the crash", ids(r.receiver.taken()), []string{hangs})
		if dead := r.deliveries(w.ID, ""); len(dead) != 1 || dead[0].EventID != failed || dead[0].Status != abi.WebhookDeliveryDead {
			t.Errorf("recorded: %+v", dead)
		}
	})
}

// A drain lets what is under way end, and writes down what has become of it.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		r.webhook(wants("task.*"))
		r.receiver.answers(func(*delivered) *http.Response {
			time.Sleep(5 * time.Second)
			return status(200)
		})
		first := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		second := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		synctest.Wait()
		if err := r.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		want(t, "sent before", ids(r.receiver.taken()), []string{first})
		r.crash()
		time.Sleep(time.Minute)
		want(t, "sent after", ids(r.receiver.taken()), []string{second})
	})
}
