package node

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wharf-dev/wharf/runtime/deletion"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// sizeInterval is how often the room is measured that the store takes, where that is limited.
	sizeInterval = 5 * time.Second
	// expireTurn is for how long what is too old is removed before other work has its turn.
	expireTurn = 10 * time.Second
	// reclaimInterval is how long what was erased stays in the files at most, while the disk keeps up.
	reclaimInterval = time.Minute
	// sweepInterval is how long all blobs are looked at in turn: those of a writer that has died are
	// found in that time.
	sweepInterval = 24 * time.Hour
)

// sized is a store that says how much room it takes.
type sized interface{ Used() int64 }

// retention removes what is too old or too much, and erases what was deleted.
type retention struct {
	*Node
	eraser    storage.Eraser
	part      int  // of the blobs, to be looked at next
	reclaimed bool // nothing was erased since the files have given back what was
	began     time.Time
	again     chan struct{} // has one when something too old is left
	clock     clock
	// full says when the store is looked at again that takes too much and has nothing that may go; nil for one that has.
	full    *deletion.Pace
	limiter *deletion.Limiter
}

// retain works until ctx ends.
func (n *Node) retain(ctx context.Context) {
	eraser, ok := n.store.(storage.Eraser)
	if !ok {
		return // and what the configuration asks for beyond that was refused at the start
	}
	r := &retention{Node: n, eraser: eraser, reclaimed: true, again: make(chan struct{}, 1), began: time.Now(), limiter: n.engine.NewLimiter()}
	n.engine.OnRemoved(r.count)
	c := n.options.Config.Retention
	age, room, files := time.NewTicker(c.Interval), time.NewTicker(sizeInterval), time.NewTicker(reclaimInterval)
	blobs := time.NewTicker(sweepInterval / storage.SweepParts)
	for _, t := range []*time.Ticker{age, room, files, blobs} {
		defer t.Stop()
	}
	r.expire(ctx)
	r.erase(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.engine.Woken():
			r.erase(ctx)
		case <-age.C:
			r.expire(ctx)
			r.erase(ctx)
		case <-r.again:
			r.expire(ctx)
		case <-room.C:
			r.shrinkWorkspaces(ctx)
			r.shrink(ctx)
		case <-files.C:
			r.sweep(ctx, -1) // what was too young before
			r.reclaim(ctx)
		case <-blobs.C:
			r.sweep(ctx, r.part)
			r.part = (r.part + 1) % storage.SweepParts
		}
	}
}

// failed logs an error of the work, unless that has to end.
func (r *retention) failed(ctx context.Context, doing string, err error) {
	if err != nil && ctx.Err() == nil {
		r.log.Error("retention: "+doing+" has failed", "error", err)
	}
}

// expire removes what is too old, for a while: a first limit on an old folder has hours to do, in which the rest of the work
// has its turns, and a Workspace's new limits are seen.
func (r *retention) expire(ctx context.Context) {
	c := r.options.Config.Retention
	if rests, ahead := r.clock.leaps(time.Now().Round(0), time.Since(r.began)); rests {
		if ahead > 0 {
			r.log.Warn("the clock has gone on by more than has passed: it was set, or the machine slept; nothing is removed for its age for an hour", "by", ahead.String())
		}
		return
	}
	turn, end := context.WithTimeout(ctx, expireTurn)
	defer end()
	removed, err := r.engine.Expire(turn, deletion.Limits{Tasks: c.Tasks, Sessions: c.Sessions, Artifacts: c.Artifacts})
	r.tell(removed, "it was too old")
	if turn.Err() != nil {
		r.more()
		return
	}
	r.failed(ctx, "removing what is too old", err)
	if store, ok := r.store.(storage.Retainer); ok && c.Events > 0 {
		events, err := store.Retain(ctx, time.Now().Add(-c.Events))
		r.failed(ctx, "removing old events", err)
		if events > 0 {
			r.log.Info("removed old events", "count", events)
		}
	}
}

// clock tells whether the time of day has gone on by much more than has passed.
type clock struct {
	wall  time.Time
	ran   time.Duration // of the process, when it was looked at last
	rests time.Duration // until when the process has to have run before the clock is believed
}

const (
	// leap is by how much a clock may be corrected without a rest, and clockRest how long that is.
	leap, clockRest = 24 * time.Hour, time.Hour
)

// leaps takes the time of day, and for how long the process has run. It reports whether the clock is not to be believed yet, and by
// how much it has leapt if it has since the last look.
func (c *clock) leaps(wall time.Time, ran time.Duration) (rests bool, ahead time.Duration) {
	if !c.wall.IsZero() {
		ahead = wall.Sub(c.wall) - (ran - c.ran)
	}
	c.wall, c.ran = wall, ran
	if ahead > leap {
		c.rests = ran + clockRest
		return true, ahead
	}
	return ran < c.rests, 0
}

// more has expire go on, once the rest has had its turn.
func (r *retention) more() {
	select {
	case r.again <- struct{}{}:
	default:
	}
}

// count counts what limits have removed, while they go on.
func (r *retention) count(removed deletion.Removed) {
	for kind, n := range map[string]int{"task": removed.Tasks, "session": removed.Sessions, "artifact": removed.Artifacts} {
		r.removed.WithLabelValues(kind).Add(float64(n))
	}
}

// tell logs what one pass has removed.
func (r *retention) tell(removed deletion.Removed, why string) {
	if removed.Total() > 0 {
		r.reclaimed = false
		r.log.Info("retention has removed something: "+why, "tasks", removed.Tasks, "sessions", removed.Sessions, "artifacts", removed.Artifacts)
	}
}

// erase erases what was deleted, and the blobs that nothing refers to any more.
func (r *retention) erase(ctx context.Context) {
	erased, err := r.engine.Erase(ctx)
	r.failed(ctx, "erasing what was deleted", err)
	if erased > 0 {
		r.reclaimed = false
	}
	r.sweep(ctx, -1)
}

// shrink erases the oldest Tasks while the store takes too much room. What is erased is given back at once, so that the next
// look sees it. Where nothing may go, all of them were looked at: that is done again after a hundred times as long.
func (r *retention) shrink(ctx context.Context) {
	limit := r.options.Config.Retention.Size
	store, ok := r.store.(sized)
	if limit == 0 || !ok {
		return
	}
	used := store.Used() - int64(r.eraser.Erased().Waiting) // content that nothing refers to goes, once it is not of just now
	if used <= limit {
		r.full = nil
		return
	}
	began := time.Now()
	if r.full != nil && !r.full.Due(began) {
		return
	}
	removed, err := r.engine.Shrink(ctx, used-limit+limit/deletion.Spare)
	r.failed(ctx, "removing what is too much", err)
	r.tell(removed, "there was too much")
	r.sweep(ctx, -1)
	r.reclaim(ctx)
	if err == nil && removed.Total() == 0 {
		r.keeps(limit, used, began)
	}
}

// keeps notes that the store takes more room than it may and has nothing that may go, and says so the first time.
func (r *retention) keeps(limit, used int64, began time.Time) {
	if r.full == nil {
		r.full = &deletion.Pace{}
		r.log.Warn("the data folder takes more than retention.size, and nothing that has ended may go: what is left runs or waits, has ended within the last minute, is held, or is the source of something",
			"limit", limit, "bytes", used)
	}
	r.full.Done(began, time.Now(), 0)
}

// shrinkWorkspaces erases the oldest Tasks of Workspaces that take more room than they may.
func (r *retention) shrinkWorkspaces(ctx context.Context) {
	removed, err := r.limiter.Shrink(ctx)
	r.failed(ctx, "removing what is too much in a workspace", err)
	r.tell(removed, "a workspace had too much")
	if removed.Total() > 0 {
		r.sweep(ctx, -1)
	}
}

// sweep removes superfluous blobs, those of a part or, with -1, only those of what was just erased.
func (r *retention) sweep(ctx context.Context, part int) {
	_, err := r.eraser.Sweep(ctx, part)
	if !errors.Is(err, storage.ErrPreparing) {
		r.failed(ctx, "removing content that nothing refers to", err)
	}
}

// reclaim has the files give back what was erased.
func (r *retention) reclaim(ctx context.Context) {
	if r.reclaimed {
		return
	}
	if err := r.eraser.Reclaim(ctx); err != nil {
		r.failed(ctx, "giving back room", err)
		return
	}
	r.reclaimed = true
}

// newRemoved counts what retention has removed.
func newRemoved() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "wharf_retention_removed_total", Help: "What retention has removed, by kind."}, []string{"kind"})
	for _, kind := range []string{"task", "session", "artifact"} {
		v.WithLabelValues(kind) // from 0 on
	}
	return v
}

// erasedMetrics count what has left the store, whoever has deleted it.
func erasedMetrics(store storage.Store) (all []prometheus.Collector) {
	eraser, ok := store.(storage.Eraser)
	if !ok {
		return nil
	}
	for _, m := range []struct {
		name, help string
		value      func(storage.Swept) uint64
	}{
		{"wharf_erased_events_total", "Events that were erased.", func(s storage.Swept) uint64 { return s.Events }},
		{"wharf_erased_event_bytes_total", "Bytes that erased events had in the log.", func(s storage.Swept) uint64 { return s.EventBytes }},
		{"wharf_erased_blobs_total", "Files of content that were removed, for nothing referred to them any more.", func(s storage.Swept) uint64 { return s.Blobs }},
		{"wharf_erased_blob_bytes_total", "Bytes that these files had.", func(s storage.Swept) uint64 { return s.BlobBytes }},
	} {
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: m.name, Help: m.help}, func() float64 { return float64(m.value(eraser.Erased())) }))
	}
	return all
}
