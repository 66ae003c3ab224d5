package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/wharf-dev/wharf/runtime/background"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hooks"
	"github.com/wharf-dev/wharf/runtime/outbox"
)

// newOutbox makes the room that Webhooks are served by.
func (e *Engine) newOutbox(common desk.Parts, parts *Parts, hooked outbox.Plugins) *outbox.Outbox {
	show := parts.ShowEvent
	if show == nil {
		show = func(ev desk.Event) []byte { return fmt.Appendf(nil, `{"id":%q}`, ev.Position().String()) }
	}
	return outbox.New(outbox.Parts{Parts: common, Values: parts.values(), Config: e.config.Webhooks, Entropy: e.entropy, Tenants: e.tenants.All, Show: show, Plugins: hooked,
		Formats: append(slices.Clip(parts.WebhookFormats), hooks.Format(e.store.Blobs())), LeaveOut: e.aside.LeaveOut, Room: e.disk.Await, Agent: "wharf/" + parts.Version})
}

// drainOutbox is the last step of a drain, so that the ends of Tasks are sent, too. ctx is the
// grace; what is under way then is broken off, and has until late to be so.
func (e *Engine) drainOutbox(ctx, late context.Context) error {
	done := make(chan struct{})
	var failed error
	go func() {
		defer close(done)
		failed = e.webhookResources.Drain(ctx)
	}()
	if err := background.Wait(late, done); err != nil {
		return fmt.Errorf("waiting for webhooks: %w", err)
	}
	return failed
}
