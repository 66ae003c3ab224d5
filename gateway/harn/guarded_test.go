package harn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/gateway"
)

// A stream ends, with an error that says why, when the key that opened it is revoked:
// one that has nothing to send, and one that always has.
func TestStreamOfRevokedKey(t *testing.T) {
	for name, busy := range map[string]bool{"idle": false, "busy": true} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, func(c *gateway.Config) { c.Heartbeat = 20 * time.Millisecond })
			session := n.session(t)
			key := object{}
			n.do(t, "POST", "/wharf/v1/keys", object{"name": "short-lived"}).want(201).into(&key)
			s := n.follow(t, "/v1/sessions/"+session+"/events/stream", header("Authorization", "Bearer "+key["key"].(string)))
			for f := (frame{}); f.event != "session.created"; {
				var err error
				if f, err = s.next(); err != nil {
					t.Fatal(err)
				}
			}
			n.do(t, "DELETE", "/wharf/v1/keys/"+key["id"].(string), nil).want(200)
			for {
				if busy {
					n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": object{"role": "user", "parts": []any{}}}).want(201)
				}
				f, err := s.next()
				if err != nil {
					t.Fatalf("the stream ended without a reason: %v", err)
				}
				if f.event == "error" {
					if !strings.Contains(f.data, `"unauthenticated"`) {
						t.Error(f.data)
					}
					return
				}
			}
		})
	}
}
