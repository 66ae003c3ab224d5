package engine_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// setClock is a clock that goes with the time of a synctest bubble, and that a test sets.
type setClock struct{ off atomic.Int64 }

func (c *setClock) read() time.Time { return time.Now().Add(time.Duration(c.off.Load())) }

// set puts the clock forward or back once everything is at rest.
func (c *setClock) set(off time.Duration) {
	synctest.Wait()
	c.off.Store(int64(off))
}

// TestStepsOfTheClock holds that what waits for a time goes by the clock as it is, within
// a minute: after a step forward it does not wait for as long as it would have, and a
// clock that was back for a while makes nothing late.
func TestStepsOfTheClock(t *testing.T) {
	for name, steps := range map[string]struct {
		off  time.Duration
		back bool          // whether the clock is put right after a while
		ends time.Duration // after the step, all that waits for an hour has ended
	}{
		"forward":        {off: 72 * time.Hour, ends: 61 * time.Second},
		"back and right": {off: -2 * time.Hour, back: true, ends: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &setClock{}
				hold, entered, leave := enginetest.Holding()
				defer close(leave)
				sleeper := newProgram(op{abi.CallSleep, `{"ms":3600000}`})
				asker := newProgram(op{abi.CallInputRequest, `{"prompt":"?","timeout_seconds":3600}`})
				n := newNode(t, enginetest.Guests{"hold": hold, "sleeper": sleeper.run, "asker": asker.run}, func(_ *engine.Config, p *engine.Parts) { p.Now = clock.read })
				session := n.Session(t)
				parked := []string{n.Submit(t, session, "persona_sleeper"), n.Submit(t, session, "persona_asker")}
				for _, id := range parked {
					n.parked(t, id)
				}
				doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{
					SessionID: session, PersonaID: "persona_hold", Input: enginetest.Text("hi"), DeadlineSeconds: 3600})
				if err != nil {
					t.Fatal(err)
				}
				<-entered
				clock.set(steps.off)
				if steps.back {
					time.Sleep(70 * time.Second)
					clock.set(0)
				}
				time.Sleep(steps.ends)
				synctest.Wait()
				for _, id := range append(parked, doc.ID) {
					if task := n.task(t, id); !task.Status.Terminal() {
						t.Errorf("a task of %s is still %s", task.PersonaID, task.Status)
					}
				}
			})
		})
	}
}

// TestTicksFollowTheClock holds that a schedule goes by the clock as it is: a clock that
// was wrong for a while, in either direction, costs no ticks once it is right again.
func TestTicksFollowTheClock(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"back": -2 * time.Hour, "ahead": 72 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock, told := &setClock{}, &ticks{}
				n := boot(t, crashtest.NewDisk(), enginetest.Guests{"connectors": told.run}, func(_ *engine.Config, p *engine.Parts) { p.Now = clock.read })
				defer n.Stop(t)
				id := n.connector(t, scheduled("@every 1m", ""))
				clock.set(wrong)
				time.Sleep(70 * time.Second)
				clock.set(0)
				received := func() uint64 {
					synctest.Wait()
					return enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))).Counters.Received
				}
				before := received()
				time.Sleep(61 * time.Second) // until the clock is looked at
				if next := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))).Polling.NextAt; next.Sub(clock.read()) > time.Minute {
					t.Errorf("it is %s, and the next tick is shown for %s", clock.read(), next)
				}
				time.Sleep(5 * time.Minute)
				if came := received() - before; came < 5 || came > 7 {
					t.Errorf("%d ticks in the six minutes since the clock was right again", came)
				}
			})
		})
	}
}

// TestReceiptsAreNotOlderThanTheirKey holds that the receipts of a node whose clock is set
// back, before its key was made or while keys rotate, hold like others.
func TestReceiptsAreNotOlderThanTheirKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &setClock{}
		n := newNode(t, enginetest.Guests{}, func(_ *engine.Config, p *engine.Parts) { p.Now = clock.read })
		session := n.Session(t)
		var all []abi.Task
		run := func() { all = append(all, n.Wait(t, n.Submit(t, session, ""))) }
		rotate := func() {
			if _, err := n.RotateSigningKey(t.Context(), n.Root); err != nil {
				t.Fatal(err)
			}
		}
		run()
		clock.set(time.Hour)
		run()
		clock.set(-10 * time.Minute)
		run()
		rotate() // the key retires before it was made, by the clock
		run()
		clock.set(-time.Hour)
		run()
		rotate()
		clock.set(0)
		run()
		trust := receipt.Trust{Keys: n.SigningKeys().Keys}
		for i, task := range all {
			wire, err := n.ReceiptWire(t.Context(), n.Root, task.ReceiptID)
			if err != nil {
				t.Fatal(err)
			}
			if report := receipt.Verify(wire, trust); !report.Valid {
				t.Errorf("receipt %d: %s", i, report.Reason())
			}
		}
	})
}
