package intake

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// A signature covers the body, mostly a time, and seldom the delivery's id. An id that
// it does not cover can be changed by whoever has got hold of a delivery, and guessed by
// whoever knows how a provider counts. So such an id tells deliveries apart only
// together with the body, and what was signed is taken once within the tolerance, under
// whichever id.

// signedKeys sets the keys of such deliveries apart from those that are ids alone.
const signedKeys = "#signed"

// maxReplays bounds how many deliveries of one Connector are remembered for that.
const maxReplays = 1 << 16

// signedContent is a hash of what a delivery's signature covers.
type signedContent [sha256.Size]byte

// replays remembers what was signed and taken within a Connector's tolerance. A restart
// forgets it. The zero value is ready to use; it is safe for concurrent use.
type replays struct {
	mu     lockrank.Mutex[lockrank.Table]
	taken  map[signedContent]int64 // when, in nanoseconds since 1970: nothing for the collector to follow
	before map[signedContent]int64 // of one tolerance earlier
	turned time.Time
}

// seen reports whether the content was taken since a time.
func (r *replays) seen(c signedContent, since time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.taken[c]
	if !ok {
		at, ok = r.before[c]
	}
	return ok && at >= since.UnixNano()
}

// take notes that the content was taken. What is older than the tolerance is forgotten,
// and the oldest earlier when there are too many.
func (r *replays) take(c signedContent, now time.Time, tolerance time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken == nil || now.Sub(r.turned) > tolerance || len(r.taken) >= maxReplays/2 {
		r.before, r.taken, r.turned = r.taken, map[signedContent]int64{}, now
	}
	r.taken[c] = now.UnixNano()
}

// covered reports whether a Connector's signatures cover the ids of its deliveries, or
// cover nothing at all.
func covered(about *abi.Connector, p *connector.Provider, from string) bool {
	switch authOf(about, *p).Scheme {
	case abi.SchemeNone:
		return true
	case abi.SchemeStandard:
		return strings.EqualFold(from, "webhook-id")
	}
	return len(p.IDHeaders) == 0 && (about.DedupePolicy == nil || about.DedupePolicy.Header == "")
}

// receiveSigned takes a delivery whose signature holds.
func (i *Intake) receiveSigned(ctx context.Context, s *inlet, v *signature.Verifier, signed signature.Signed, in *Incoming) (Received, error) {
	about := s.about.Load()
	id, from := deliveryID(about, &s.provider, in)
	if covered(about, &s.provider, from) {
		return i.receiveAs(ctx, s, id, in)
	}
	// The claim is the body's: whatever else tells two deliveries apart, neither is
	// looked up while the other one is written.
	body := sha256.Sum256(in.Body)
	release, err := i.deliveries.Claim(ctx, ledger.ClaimKey{Tenant: s.key.Tenant, Key: storage.Key(body)})
	if err != nil {
		return Received{}, i.parts.Ledger.Failed("waiting for the same delivery", err)
	}
	defer release()
	now := i.parts.Now()
	content, since := signedContent(signed.With(body)), now.Add(-v.Tolerance())
	if s.replays.seen(content, since) {
		i.repeated(s, id, now)
		return Received{Status: DeliveryDeduped, DeliveryID: id}, nil
	}
	got := Received{DeliveryID: id}
	former := deliveryKey(about.ID, id) // by an earlier version, or from a caller with a key
	key := deliveryKey(about.ID+signedKeys, string(body[:])+id)
	if err := i.receiveOnce(ctx, s, &got, key.key, now, in, former.key); err != nil {
		return Received{}, err
	}
	s.replays.take(content, now, v.Tolerance())
	return got, nil
}
