package harn

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// submitTask serves both submit routes. A Session in the path goes into the
// request; a body that names another is refused.
func (a *Adapter) submitTask(r *gateway.Request) error {
	var req abi.SubmitTaskRequest
	retry, err := decode(r, &req)
	if err != nil {
		return err
	}
	if err := setSession(&req, r.PathValue("session_id")); err != nil {
		return err
	}
	doc, err := a.core.SubmitTask(r.Context(), r.Caller, retry, req)
	if err != nil {
		return err
	}
	if wait := preferredWait(r.Header("Prefer"), a.cfg.WaitLimit); wait > 0 {
		return a.awaitTask(r, doc, wait)
	}
	return a.send(r, statusAccepted, doc)
}

func setSession(req *abi.SubmitTaskRequest, session string) error {
	if session == "" {
		return nil
	}
	if req.SessionID != "" && req.SessionID != session {
		return abi.InvalidParam("session_id", "the body names another Session than the path")
	}
	req.SessionID = session
	return nil
}

// preferredWait reads "wait" from a Prefer header (RFC 7240), cut to the limit.
// What cannot be understood is no preference.
func preferredWait(header string, limit time.Duration) time.Duration {
	for preference := range strings.SplitSeq(header, ",") {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, ok := strings.Cut(preference, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
		if err != nil {
			return 0
		}
		return min(time.Duration(seconds)*time.Second, limit)
	}
	return 0
}

// awaitTask answers 200 when the Task has ended, else 202 when the time is up,
// the client has left or the node drains.
func (a *Adapter) awaitTask(r *gateway.Request, doc api.View, wait time.Duration) error {
	r.SetHeader("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
	replayed := doc.Replayed
	if !ended(doc) && wait > 0 {
		err := r.Await(wait, func(ctx context.Context) (bool, error) {
			current, err := a.core.WaitTask(ctx, r.Caller, doc.ID)
			if err != nil {
				return false, err
			}
			doc = current
			r.Keep(len(doc.JSON))
			return ended(doc), nil
		})
		if err != nil {
			return err
		}
	}
	status := statusAccepted
	if ended(doc) {
		status = statusOK
	}
	doc.Replayed = replayed
	return a.send(r, status, doc)
}

// ended reports whether a Task has ended.
func ended(doc api.View) bool { return doc.Task.Terminal() }

// changeSession is a change of a Session that needs nothing but its id.
func (a *Adapter) changeSession(call func(context.Context, *api.Caller, *api.Write, string) (api.View, error)) gateway.Handler {
	return func(r *gateway.Request) error {
		retry, err := r.Retry(nil)
		if err != nil {
			return err
		}
		doc, err := call(r.Context(), r.Caller, retry, r.PathValue("session_id"))
		if err != nil {
			return err
		}
		return a.send(r, statusOK, doc)
	}
}
