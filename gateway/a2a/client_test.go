package a2a_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/runtime/enginetest"
)

func textOf(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var requestID = regexp.MustCompile(`req_[0-9A-Z]+`)

// withoutRequest leaves out of an error what tells requests apart.
func withoutRequest(text string) string { return requestID.ReplaceAllString(text, "req") }

// keyed adds a key to requests.
type keyed struct{}

func (keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+enginetest.RootKey)
	return http.DefaultTransport.RoundTrip(r)
}

// clients returns a client of the protocol's own library for each way of asking in 1.0.
func (n *node) clients(t testing.TB) map[string]*a2aclient.Client {
	t.Helper()
	all := map[string]*a2aclient.Client{}
	with := &http.Client{Transport: keyed{}}
	card, err := agentcard.NewResolver(http.DefaultClient).Resolve(t.Context(), n.url)
	if err != nil {
		t.Fatal("the card:", err)
	}
	for name, option := range map[string]a2aclient.FactoryOption{"JSON-RPC": a2aclient.WithJSONRPCTransport(with), "REST": a2aclient.WithRESTTransport(with)} {
		client, err := a2aclient.NewFactory(a2aclient.WithDefaultsDisabled(), option).CreateFromCard(t.Context(), card)
		if err != nil {
			t.Fatal(name, err)
		}
		all[name] = client
	}
	return all
}

// last reads events to their end.
func last(t testing.TB, events iter.Seq2[a2a.Event, error]) (e a2a.Event, n int) {
	t.Helper()
	for ev, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		e, n = ev, n+1
	}
	return e, n
}

// The protocol's own library sends, streams, gets, lists, subscribes, cancels and has itself told, by
// JSON-RPC and by REST.
func TestOwnLibrary(t *testing.T) {
	guest, entered, leave := enginetest.Holding()
	defer close(leave)
	n := newNode(t, enginetest.Guests{"busy": busy, "hold": guest})
	for name, client := range n.clients(t) {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			message := func(guest string) *a2a.Message {
				m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))
				m.Metadata = map[string]any{"wharf": map[string]any{"persona_id": "persona_" + guest}}
				return m
			}
			res, err := client.SendMessage(ctx, &a2a.SendMessageRequest{Message: message("busy")})
			sent, ok := res.(*a2a.Task)
			if err != nil || !ok || sent.Status.State != a2a.TaskStateCompleted || len(sent.Artifacts) != 2 || len(sent.History) != 2 {
				t.Fatalf("sent: %+v, %v", res, err)
			}
			ev, many := last(t, client.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: message("busy")}))
			if end, ok := ev.(*a2a.TaskStatusUpdateEvent); !ok || end.Status.State != a2a.TaskStateCompleted || many != 8 {
				t.Errorf("streamed: %d, then %+v", many, ev)
			}
			got, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: sent.ID})
			if err != nil || got.ContextID != sent.ContextID {
				t.Errorf("got: %+v, %v", got, err)
			}
			list, err := client.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: sent.ContextID})
			if err != nil || len(list.Tasks) != 1 || list.TotalSize != 1 {
				t.Errorf("listed: %+v, %v", list, err)
			}
			if _, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: "task_x"}); !errors.Is(err, a2a.ErrTaskNotFound) {
				t.Errorf("an unknown task: %v", err)
			}
			res, err = client.SendMessage(ctx, &a2a.SendMessageRequest{Message: message("hold"), Config: &a2a.SendMessageConfig{ReturnImmediately: true}})
			if err != nil {
				t.Fatal(err)
			}
			<-entered
			held := res.(*a2a.Task)
			for ev, err := range client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: held.ID}) {
				if is, ok := ev.(*a2a.Task); err != nil || !ok || is.ID != held.ID {
					t.Errorf("subscribed: %+v, %v", ev, err)
				}
				break
			}
			push, err := client.CreateTaskPushConfig(ctx, &a2a.PushConfig{TaskID: held.ID, ID: "p", URL: "http://127.0.0.1:1/", Token: "t"})
			if err != nil || push.ID != "p" {
				t.Errorf("push: %+v, %v", push, err)
			}
			if push, err = client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: held.ID, ID: "p"}); err != nil || push.URL != "http://127.0.0.1:1/" || push.Token != "" {
				t.Errorf("push: %+v, %v", push, err)
			}
			if all, err := client.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: held.ID}); err != nil || len(all) != 1 {
				t.Errorf("pushes: %+v, %v", all, err)
			}
			if err := client.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: held.ID, ID: "p"}); err != nil {
				t.Error(err)
			}
			if ended, err := client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: held.ID}); err != nil || ended.Status.State != a2a.TaskStateCanceled {
				t.Errorf("canceled: %+v, %v", ended, err)
			}
			if _, err := client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: held.ID}); !errors.Is(err, a2a.ErrTaskNotCancelable) {
				t.Errorf("canceled again: %v", err)
			}
			if card, err := client.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{}); err != nil || len(card.SupportedInterfaces) != 4 {
				t.Errorf("the card: %+v, %v", card, err)
			}
		})
	}
}
