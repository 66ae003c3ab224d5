package journal

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What a guest is told of time and chance follows from the seed, the start and
// what happens; the bytes are those of every earlier version, or records would
// not replay.
func TestGroundIsStable(t *testing.T) {
	g := NewGround(began, []byte("0123456789abcdef"))
	p := make([]byte, 16)
	g.Random(p)
	got := fmt.Sprint(hex.EncodeToString(p), " ", g.Now().Format(time.RFC3339Nano), " ")
	g.Reach(began.Add(time.Second))
	g.Sleep(time.Minute)
	g.Random(p[:3])
	got += fmt.Sprint(g.Now().Format(time.RFC3339Nano), " ", hex.EncodeToString(p[:3]))
	if want := "589cd705cd4a7aa18a4adfc3999e2da2 2026-05-04T03:02:01.654322Z 2026-05-04T03:03:02.654322Z 3ddabc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestGround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOf(rapid.Byte()).Draw(t, "seed")
		a, b := NewGround(began, seed), NewGround(began.In(time.FixedZone("east", 3600)), bytes.Clone(seed))
		last := Moment(began)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				x, y := a.Now(), b.Now()
				if !x.After(last) || !x.Equal(y) || x.Location() != time.UTC {
					t.Fatalf("the time is %s and %s after %s", x, y, last)
				}
				last = x
			case 1:
				at := last.Add(time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "to")))
				a.Reach(at)
				b.Reach(at)
				if at.After(last) {
					last = at
				}
			case 2:
				d := time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "for"))
				a.Sleep(d)
				b.Sleep(d)
				last = last.Add(max(d, 0))
			default:
				x := make([]byte, rapid.IntRange(0, 40).Draw(t, "n"))
				y := make([]byte, len(x))
				a.Random(x)
				b.Random(y)
				if !bytes.Equal(x, y) {
					t.Fatalf("%x and %x", x, y)
				}
			}
		}
	})
}

// Another seed gives other randomness.
func TestGroundSeeds(t *testing.T) {
	seen := map[string]bool{}
	for _, seed := range []string{"", "a", "b", "ab", "a\x00"} {
		p := make([]byte, 16)
		NewGround(began, []byte(seed)).Random(p)
		if seen[string(p)] {
			t.Errorf("seed %q gives what another has given", seed)
		}
		seen[string(p)] = true
	}
}

func TestMoment(t *testing.T) {
	local := time.Date(2026, 1, 1, 1, 0, 0, 1999, time.FixedZone("east", 3600))
	if got := Moment(local); !got.Equal(time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC)) || got.Location() != time.UTC {
		t.Error(got)
	}
	if got := Moment(time.Now()); got != Moment(got) {
		t.Error(got)
	}
}
