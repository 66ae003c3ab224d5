package acp

import (
	"context"
	"time"
)

// backoffs are the pauses after which a client is told again that an agent is idle; the last stays.
var backoffs = [...]time.Duration{100 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}

// idleParams are those of agent/idle.
type idleParams struct {
	SessionID string `json:"sessionId"`
	Iteration int    `json:"iteration"`
	BackoffMS int64  `json:"backoff_ms"`
}

// noteIdle begins or ends telling the client that a Task waits for its inbox. What was before the session
// is live is begun by tellIdle. The lock is held.
func (o *opened) noteIdle(t *taskState) {
	stop, told := o.idling[t.id]
	switch {
	case told && !t.idle:
		stop()
		delete(o.idling, t.id)
	case !told && t.idle && o.asking:
		o.beginIdle(t.id)
	}
}

// tellIdle begins for the Tasks that wait already.
func (o *opened) tellIdle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, t := range o.tasks {
		if _, told := o.idling[id]; t.idle && !told {
			o.beginIdle(id)
		}
	}
}

// beginIdle tells until it is called off. The Task itself is parked: nothing but this timer remembers how
// long. The lock is held.
func (o *opened) beginIdle(task string) {
	if !o.conn.client().harn {
		return
	}
	ctx, stop := context.WithCancel(o.live)
	o.idling[task] = stop
	o.conn.beside.Go(func() {
		defer stop()
		for n := 0; ; n++ {
			pause := backoffs[min(n, len(backoffs)-1)]
			if o.conn.peer.Notify("agent/idle", idleParams{o.id, n + 1, pause.Milliseconds()}) != nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
		}
	})
}
