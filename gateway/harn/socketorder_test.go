package harn_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage"
)

// seen is an event as a reader saw it.
type seen struct {
	id, kind string
	text     string // without its marks
}

func seenEvent(t testing.TB, text []byte) seen {
	t.Helper()
	var ev abi.Event
	if err := json.Unmarshal(text, &ev); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	body := strings.NewReplacer(`"replayed":true}`, `"replayed":false}`).Replace(string(text))
	return seen{ev.ID, string(ev.Event), body}
}

// A WebSocket and an event stream of one Session show the same events in the same
// order, however the readers are cut off and come back, and whatever they do.
func TestSocketAndEventStreamAgree(t *testing.T) {
	rounds, events := 8, 120
	if os.Getenv("WHARF_LONG") != "" {
		rounds, events = 100, 1000
	}
	n := newNode(t, func(c *gateway.Config) { c.Heartbeat = time.Second })
	mine := share.Of(t)
	for round := range rounds {
		if !mine(round) {
			continue
		}
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			session := n.session(t)
			done := make(chan string)
			go func() { done <- n.happen(t, session, events, uint64(round)) }()
			var sockets, streams [3][]seen
			last := make(chan struct{})
			var end string
			var readers sync.WaitGroup
			for i := range sockets {
				readers.Go(func() { sockets[i] = n.readSocket(t, session, uint64(round*10+i), last, &end) })
				readers.Go(func() { streams[i] = n.readStream(t, session, uint64(round*10+i), last, &end) })
			}
			end = <-done
			close(last)
			readers.Wait()
			for i := range sockets {
				compareSeen(t, fmt.Sprint("socket ", i), sockets[i], streams[0])
				compareSeen(t, fmt.Sprint("stream ", i), streams[i], streams[0])
			}
			if len(streams[0]) < events {
				t.Errorf("%d events seen, at least %d happened", len(streams[0]), events)
			}
		})
	}
}

func compareSeen(t *testing.T, who string, got, want []seen) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s, event %d: %+v, want %+v", who, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d events, want %d", who, len(got), len(want))
	}
}

// happen makes events from several sides at once and returns the id of the last.
func (n *node) happen(t *testing.T, session string, events int, seed uint64) string {
	caller, err := n.Authenticate(context.Background(), enginetest.RootKey)
	if err != nil {
		t.Error(err)
		return "0"
	}
	words := "words"
	req := func() abi.AppendMessageRequest {
		return abi.AppendMessageRequest{Message: &abi.MessageInput{Role: abi.RoleUser,
			Parts: []abi.Part{{Type: abi.PartText, Text: &words, Visibility: abi.VisibilityPublic}}}}
	}
	var writers sync.WaitGroup
	for w := range 4 {
		rnd := rand.New(rand.NewPCG(seed, uint64(w)))
		writers.Go(func() {
			for range events / 4 {
				if rnd.IntN(20) == 0 {
					doc, err := n.SubmitTask(context.Background(), caller, nil, abi.SubmitTaskRequest{
						SessionID: session, PersonaID: "persona_echo", Input: []byte(`{"words":"go"}`)})
					if err != nil {
						t.Error(err)
						return
					}
					if _, err := n.WaitTask(context.Background(), caller, doc.ID); err != nil {
						t.Error(err)
					}
					continue
				}
				if _, err := n.AppendMessage(context.Background(), caller, nil, session, req()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	doc, err := n.AppendMessage(context.Background(), caller, nil, session, req())
	if err != nil {
		t.Error(err)
		return "0"
	}
	at, err := n.Store.Last(context.Background(), caller.Tenant, storage.Scope{Object: abi.ObjectSession, ID: session})
	if err != nil {
		t.Error(doc.ID, err)
	}
	return at.String()
}

// reached reports whether the last event is known and has been seen.
func reached(all []seen, last <-chan struct{}, end *string) bool {
	select {
	case <-last:
		return len(all) > 0 && (all[len(all)-1].id == *end || atLeast(all[len(all)-1].id, *end))
	default:
		return false
	}
}

func atLeast(id, end string) bool {
	a, _ := desk.ParsePosition(id)
	b, _ := desk.ParsePosition(end)
	return a >= b
}

func cursorOf(all []seen) string {
	if len(all) == 0 {
		return "0"
	}
	return all[len(all)-1].id
}

// readSocket reads over sockets that are cut at random, and resumes over the old
// socket or a new one.
func (n *node) readSocket(t *testing.T, session string, seed uint64, last <-chan struct{}, end *string) (all []seen) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	var conn *websocket.Conn
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	left := 0 // events until the next cut
	for !reached(all, last, end) {
		if conn == nil {
			d := websocket.Dialer{EnableCompression: rnd.IntN(2) == 0}
			var err error
			path := []string{connectPath(session), "/v1/sessions/" + session + "/events/stream"}[rnd.IntN(2)]
			if conn, _, err = d.Dial("ws://"+n.addr+path+"?after_event_id="+cursorOf(all), headers()); err != nil {
				t.Error(err)
				return all
			}
			left = 1 + rnd.IntN(60)
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Duration(50+rnd.IntN(200)) * time.Millisecond))
		_, text, err := conn.ReadMessage()
		if err != nil { // nothing came for a while, or the socket is broken: another one
			conn.Close()
			conn = nil
			continue
		}
		var f struct {
			Type  string `json:"type"`
			Event struct {
				ID string `json:"id"`
			} `json:"event"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			t.Error(err)
			return all
		}
		if f.Type != "event" {
			continue
		}
		body := text[strings.Index(string(text), `"event":`)+len(`"event":`) : len(text)-1]
		all = append(all, seenEvent(t, body))
		if left--; left > 0 {
			continue
		}
		if rnd.IntN(2) == 0 {
			conn.Close()
			conn = nil
			continue
		}
		// On the same socket, from an event back: what comes until the ack is the old
		// stream's.
		all = all[:len(all)-rnd.IntN(min(3, len(all)))]
		text = fmt.Appendf(nil, `{"type":"resume","id":"r","after_event_id":%q}`, cursorOf(all))
		if err := conn.WriteMessage(websocket.TextMessage, text); err != nil || !untilAck(conn) {
			conn.Close()
			conn = nil
		}
		left = 1 + rnd.IntN(60)
	}
	return all
}

// untilAck passes over what comes before an ack.
func untilAck(conn *websocket.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			return false
		}
		if strings.HasPrefix(string(text), `{"type":"ack"`) {
			return true
		}
	}
}

// readStream reads over event streams that are cut at random.
func (n *node) readStream(t *testing.T, session string, seed uint64, last <-chan struct{}, end *string) (all []seen) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	for !reached(all, last, end) {
		ctx, cut := context.WithTimeout(context.Background(), time.Duration(50+rnd.IntN(300))*time.Millisecond)
		r, err := http.NewRequestWithContext(ctx, "GET", n.url+"/v1/sessions/"+session+"/events/stream", nil)
		if err != nil {
			t.Error(err)
		}
		r.Header = headers(lastEventID(cursorOf(all)))
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			cut()
			continue
		}
		s := &stream{t: t, resp: resp, r: bufio.NewReader(resp.Body), stop: cut}
		for left := 1 + rnd.IntN(60); left > 0 && !reached(all, last, end); left-- {
			f, err := s.next()
			if err != nil {
				break
			}
			if f.comment == "" {
				all = append(all, seenEvent(t, []byte(f.data)))
			}
		}
		cut()
		resp.Body.Close()
	}
	return all
}
