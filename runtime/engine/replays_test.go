package engine_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/intake"
)

// Whatever the scheme, a delivery that comes again under another id, or without one, has
// no second effect, and an id that was known beforehand keeps no other delivery out.
func TestReplayedDeliveries(t *testing.T) {
	secret := []byte("a secret that nobody guesses")
	mac := func(parts ...string) []byte {
		h := hmac.New(sha256.New, secret)
		h.Write([]byte(strings.Join(parts, "")))
		return h.Sum(nil)
	}
	type signer func(id, at, body string) headers
	own := func(header string) signer {
		return func(id, at, body string) headers {
			return headers{header: id, "X-Signature": hex.EncodeToString(mac(body))}
		}
	}
	plain := &abi.WebhookAuth{Scheme: abi.SchemeHMAC, Header: "X-Signature", Secrets: []string{"hook"}}
	timed := &abi.WebhookAuth{Scheme: abi.SchemeHMAC, Header: "X-Signature", TimestampHeader: "X-Time", Secrets: []string{"hook"}}
	standard := func(id, at, body string) headers {
		return headers{"webhook-id": id, "webhook-timestamp": at, "webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac(id, ".", at, ".", body))}
	}
	for name, c := range map[string]struct {
		provider, header string // where the id stands
		policy           bool
		auth             *abi.WebhookAuth
		sign             signer
		timed, sealed    bool // the time, and the id, are signed
	}{
		"github": {"github", "X-GitHub-Delivery", false, &abi.WebhookAuth{Secrets: []string{"hook"}}, func(id, _, body string) headers {
			return headers{"X-GitHub-Delivery": id, "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac(body))}
		}, false, false},
		"hmac":         {"generic", "webhook-id", false, plain, own("webhook-id"), false, false},
		"hmac, own id": {"generic", "X-Id", true, plain, own("X-Id"), false, false},
		"hmac, ce":     {"cloudevents", "ce-id", false, plain, own("ce-id"), false, false},
		"hmac and a time": {"generic", "webhook-id", false, timed, func(id, at, body string) headers {
			return headers{"webhook-id": id, "X-Time": at, "X-Signature": hex.EncodeToString(mac(at, ".", body))}
		}, true, false},
		"stripe, own id": {"stripe", "X-Id", true, &abi.WebhookAuth{Secrets: []string{"hook"}}, func(id, at, body string) headers {
			return headers{"X-Id": id, "Stripe-Signature": "t=" + at + ",v1=" + hex.EncodeToString(mac(at, ".", body))}
		}, true, false},
		"slack, own id": {"slack", "X-Id", true, &abi.WebhookAuth{Secrets: []string{"hook"}}, func(id, at, body string) headers {
			return headers{"X-Id": id, "X-Slack-Request-Timestamp": at, "X-Slack-Signature": "v0=" + hex.EncodeToString(mac("v0:", at, ":", body))}
		}, true, false},
		"standard": {"generic", "webhook-id", false, &abi.WebhookAuth{Secrets: []string{"hook"}}, standard, true, true},
		"standard, own id": {"generic", "X-Id", true, &abi.WebhookAuth{Secrets: []string{"hook"}}, func(id, at, body string) headers {
			h := standard("fixed", at, body)
			h["X-Id"] = id
			return h
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var now atomic.Int64
			now.Store(time.Now().Unix())
			n := newNode(t, enginetest.Guests{"sorter": trapping}, func(_ *engine.Config, p *engine.Parts) {
				p.Now = func() time.Time { return time.Unix(now.Load(), 0) }
				p.NodeSecret = func(context.Context, *abi.Connector, string) ([]byte, error) { return secret, nil }
			})
			id := n.connector(t, func(r *abi.CreateConnectorRequest) {
				r.Provider, r.Webhook, r.Auth = c.provider, &abi.Webhook{Enabled: true}, c.auth
				if c.policy {
					r.DedupePolicy = &abi.DedupePolicy{Header: c.header}
				}
			})
			token := strings.TrimPrefix(enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))).Webhook.Path, "/hooks/")
			send := func(h headers, body string, want intake.DeliveryStatus) {
				t.Helper()
				got, err := n.ReceiveHook(t.Context(), token, &intake.Incoming{Method: http.MethodPost, Header: h, Body: []byte(body)})
				if err != nil || got.Status != want {
					t.Errorf("%v: %+v, %v, want %s", h, got, err, want)
				}
			}
			at := func() string { return strconv.FormatInt(now.Load(), 10) }
			first := at()
			send(c.sign("1", first, `{"n":1}`), `{"n":1}`, intake.DeliveryAccepted)
			send(c.sign("1", first, `{"n":1}`), `{"n":1}`, intake.DeliveryDeduped) // the provider tries again
			if !c.sealed {
				again := c.sign("1", first, `{"n":1}`)
				again[c.header] = "another"
				send(again, `{"n":1}`, intake.DeliveryDeduped) // a replay
				delete(again, c.header)
				send(again, `{"n":1}`, intake.DeliveryDeduped)                          // a replay without an id
				send(c.sign("1", first, `{"n":2}`), `{"n":2}`, intake.DeliveryAccepted) // "1" was guessed
			}
			now.Add(60)
			send(c.sign("1", at(), `{"n":1}`), `{"n":1}`, intake.DeliveryDeduped) // tried again, with a new time
			if now.Add(1); c.timed {
				send(c.sign("2", at(), `{"n":1}`), `{"n":1}`, intake.DeliveryAccepted) // the same once more
			}
			now.Add(int64(2 * time.Hour / time.Second))
			send(c.sign("1", at(), `{"n":1}`), `{"n":1}`, intake.DeliveryDeduped)
			now.Add(int64(time.Hour / time.Second))
			send(c.sign("3", at(), `{"n":1}`), `{"n":1}`, intake.DeliveryAccepted)
		})
	}
}

// No credential, signature or header of the connection becomes an id, which is stored
// and told.
func TestIDHeaders(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": trapping})
	id := n.connector(t, nil)
	for _, header := range []string{"Authorization", "cookie", "User-Agent", "Webhook-Signature", "X-Hub-Signature-256", "host", "Connection", "TE",
		"X-Api-Key", "X-GitLab-Token", "Proxy-Authorization", "content-length"} {
		policy := &abi.DedupePolicy{Header: header}
		if _, err := n.UpdateConnector(t.Context(), n.Root, nil, id, abi.UpdateConnectorRequest{DedupePolicy: policy}); codeOf(err) != abi.CodeInvalidRequest {
			t.Errorf("%s: %v", header, err)
		}
		if _, err := n.CreateConnector(t.Context(), n.Root, nil, abi.CreateConnectorRequest{Provider: "generic", DedupePolicy: policy}); codeOf(err) != abi.CodeInvalidRequest {
			t.Errorf("%s: %v", header, err)
		}
	}
	for _, header := range []string{"Idempotency-Key", "X-GitHub-Delivery", "X-Event-Id", "X-Request-Id"} {
		if _, err := n.UpdateConnector(t.Context(), n.Root, nil, id, abi.UpdateConnectorRequest{DedupePolicy: &abi.DedupePolicy{Header: header}}); err != nil {
			t.Errorf("%s: %v", header, err)
		}
	}
}
