package intake

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"
)

// What is remembered of deliveries does not grow with them.
func TestReplaysAreBounded(t *testing.T) {
	var r replays
	now := time.Unix(1e9, 0)
	for i := range 3 * maxReplays {
		r.take(sha256.Sum256(fmt.Append(nil, i)), now, time.Minute)
		if len(r.taken)+len(r.before) > maxReplays {
			t.Fatalf("%d are remembered", len(r.taken)+len(r.before))
		}
	}
	last := signedContent(sha256.Sum256(fmt.Append(nil, 3*maxReplays-1)))
	if !r.seen(last, now) || r.seen(last, now.Add(1)) {
		t.Error("the last is not remembered, or for too long")
	}
}
