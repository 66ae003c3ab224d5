package ledger

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// Failed turns an error of the store, met while doing something, into what a client gets: an
// [*abi.Error] where the client can do something about it. nil stays nil.
func (l *Ledger) Failed(doing string, err error) error {
	var own *abi.Error
	switch {
	case err == nil:
		return nil
	case Lost(err) != nil:
		return fmt.Errorf("%s: %w", doing, Lost(err))
	case Overtaken(err):
		conflict, _ := errors.AsType[*storage.ConflictError](err)
		return fmt.Errorf("%s: %w", doing, &OvertakenError{conflict})
	case errors.As(err, &own):
		return own
	case deletedMeanwhile(err) != nil:
		return deletedMeanwhile(err)
	case errors.Is(err, storage.ErrPreparing):
		later := abi.Errorf(abi.CodeServiceUnavailable, "the node is still finding out what an older version has written: it deletes nothing before")
		later.RetryAfter = 10
		return later
	case errors.Is(err, storage.ErrFailed), errors.Is(err, storage.ErrClosed):
		down := abi.Errorf(abi.CodeServiceUnavailable, "the node cannot write to its disk and takes no more work")
		if full(err) {
			down.Message = "the node's disk was full and its store has stopped: make room on the disk of the data folder, and start the node again. Nothing that was acknowledged is lost"
		}
		down.RetryAfter = 10
		return down
	case errors.Is(err, storage.ErrTooLarge):
		return abi.Errorf(abi.CodePayloadTooLarge, "the request has more in it than can be kept at once: send it in parts")
	case errors.Is(err, storage.ErrDamaged):
		return &UnreadableError{Err: fmt.Errorf("%s: %w", doing, err)}
	case errors.Is(err, storage.ErrNotStored), full(err):
		l.log.Error("the disk refuses content", "doing", doing, "error", err)
		refused := abi.Errorf(abi.CodeServiceUnavailable, "the node cannot write the content to its disk")
		if full(err) {
			refused.Message = "the node's disk is full, and nothing was kept of this: delete what is no longer needed, or make room on the disk of the data folder, and send this again"
		}
		refused.RetryAfter = 10
		return refused
	case errors.Is(err, storage.ErrCursorExpired):
		return abi.Errorf(abi.CodeCursorExpired, "the cursor lies before the oldest event that is kept")
	case errors.Is(err, context.DeadlineExceeded):
		return abi.Errorf(abi.CodeDeadlineExceeded, "the request's time was up while %s", doing)
	case errors.Is(err, context.Canceled):
		return abi.Errorf(abi.CodeClientClosedRequest, "the client left while %s", doing)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// deletedMeanwhile says what a write refers to that was just deleted, nil for other errors.
func deletedMeanwhile(err error) error {
	c, ok := errors.AsType[*storage.ConflictError](err)
	if !ok || c.Expected.Kind != storage.ExpectStated {
		return nil
	}
	return abi.NotFound(c.Expected.Resource.Object, c.Expected.Resource.ID)
}

// full reports whether an error says that the disk, or what the node may use of it, is full.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
