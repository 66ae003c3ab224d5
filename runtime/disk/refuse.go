package disk

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// retryAfter is when a client that was refused is asked to come again, in seconds.
const retryAfter = 30

// Reason is what the details of a refusal have as their reason.
const Reason = "disk"

// details are those of a refusal.
type details struct {
	Reason  string `json:"reason"`
	Free    uint64 `json:"free_bytes"`
	Reserve uint64 `json:"reserve_bytes"`
}

// NewWork refuses new work of a caller while there is too little room, with an [*abi.Error].
func (w *Watch) NewWork() error {
	if !w.refusing() {
		return nil
	}
	s := w.State()
	refused := refusal(lack(s) + "; work that runs already can end. Delete what is no longer needed, or make room on the disk of the data folder, and send this again")
	refused.Details, _ = json.Marshal(details{Reason, s.Space.Free, s.Reserve})
	return refused
}

// lack says what there is too little of.
func lack(s State) string {
	if s.Space.Free >= s.Reserve+s.Reserve/10 {
		return fmt.Sprintf("the node's disk has room for %d more files and takes no new work", s.Space.FreeFiles)
	}
	return fmt.Sprintf("the node's disk is nearly full and it takes no new work: %s are free, %s are kept in reserve", show(s.Space.Free), show(s.Reserve))
}

// Delivery refuses a delivery as [Watch.NewWork] does, and tells whoever sends it no figures.
func (w *Watch) Delivery() error {
	if !w.refusing() {
		return nil
	}
	return refusal("the node's disk is nearly full: it takes no deliveries until there is room again. Send this again later")
}

func (w *Watch) refusing() bool { return w != nil && w.work.closed.Load() }

func refusal(message string) *abi.Error {
	refused := abi.Errorf(abi.CodeServiceUnavailable, "%s", message)
	refused.RetryAfter = retryAfter
	return refused
}

// IsFull reports whether an error says that a disk, or what somebody may use of it, is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
