package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
)

// hangup says what SIGHUP does: it ends the program, as the closing of its terminal does, unless
// somebody is told of it instead.
type hangup struct {
	signals chan os.Signal
	instead atomic.Pointer[chan struct{}]
}

// taken reports whether a signal is one that somebody was told of. Several that come at once count as one.
func (h *hangup) taken(s os.Signal) bool {
	told := h.instead.Load()
	if s != syscall.SIGHUP || told == nil {
		return false
	}
	select {
	case *told <- struct{}{}:
	default:
	}
	return true
}

// tell has SIGHUP told from now on, also where it was ignored, as under nohup.
func (h *hangup) tell() <-chan struct{} {
	told := make(chan struct{}, 1)
	h.instead.Store(&told)
	signal.Notify(h.signals, syscall.SIGHUP)
	return told
}

// onTerminal reports whether a terminal may be closed on the program.
func (a *app) onTerminal() bool {
	return slices.ContainsFunc([]any{a.stdin, a.stdout, a.stderr}, func(of any) bool {
		f, ok := of.(*os.File)
		return ok && term.IsTerminal(int(f.Fd()))
	})
}

// reloading reads a configuration again and has a node take over what it can while it runs.
type reloading struct {
	load    func() (*config.Effective, error)
	began   *config.Effective // what the node was started with
	now     *config.Effective // what of it was taken over last
	regrant func(*config.Config)
	level   *slog.LevelVar
	log     *slog.Logger
}

// reloads are what a node does at each SIGHUP until the context ends. On a terminal there are none.
func (a *app) reloads(ctx context.Context, r *reloading) {
	if a.hangup == nil || a.onTerminal() {
		return
	}
	told := a.hangup.tell()
	go func() {
		for {
			select {
			case <-told:
				r.again()
			case <-ctx.Done():
				return
			}
		}
	}()
}

// again takes over all that can be, or nothing where anything is wrong.
func (r *reloading) again() {
	next, err := r.load()
	if err == nil && r.began.File != "" && next.File == "" {
		err = errors.New(r.began.File + " is not there any more")
	}
	if err != nil {
		r.log.Error("the configuration was read again and is wrong: nothing has changed", "problems", problemsOf(err))
		return
	}
	taken := slices.DeleteFunc(config.Changed(r.now, next), func(name string) bool { return !config.Live(name) })
	later := slices.DeleteFunc(config.Changed(r.began, next), config.Live)
	r.now = next
	r.level.Set(next.Config.Log.Level)
	if slices.Contains(taken, "grants") {
		r.regrant(&next.Config)
	}
	r.log.Info("the configuration was read again", "file", next.File, "changed", strings.Join(taken, ", "))
	for _, warning := range next.Warnings {
		r.log.Warn("the configuration: " + warning)
	}
	if len(later) > 0 {
		r.log.Warn("these settings are changed, and take effect at the next start: "+strings.Join(later, ", "), "settings", later)
	}
}

// problemsOf are all that is wrong with a configuration, each with where it stands.
func problemsOf(err error) (all []string) {
	problems, ok := errors.AsType[config.Problems](err)
	if !ok {
		return []string{err.Error()}
	}
	for _, p := range problems {
		all = append(all, p.String())
	}
	return all
}
