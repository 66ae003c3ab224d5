package harn

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// replaySession answers with the replay Tasks, oldest first.
func (a *Adapter) replaySession(r *gateway.Request) error {
	var req abi.ReplaySessionRequest
	retry, err := decode(r, &req)
	if err != nil {
		return err
	}
	list := listIdentity(r)
	after, err := openCursor(list, r.Query("cursor"))
	if err != nil {
		return err
	}
	tasks, err := a.core.ReplaySession(r.Context(), r.Caller, retry, r.PathValue("session_id"), req, after)
	if err != nil {
		return err
	}
	r.Send(statusAccepted, encodePage(list, tasks))
	return nil
}

func (a *Adapter) taskRecord(r *gateway.Request) error {
	record, err := a.core.TaskRecord(r.Context(), r.Caller, r.PathValue("task_id"))
	if err != nil {
		return err
	}
	return sendValue(r, statusOK, record)
}

const mediaZip = "application/zip"

// taskBundle streams a run bundle while it is made. What goes wrong before its
// first byte is answered as an error; later, the connection breaks, so that no
// client takes part of a bundle for the whole.
func (a *Adapter) taskBundle(r *gateway.Request) error {
	task := strings.Clone(r.PathValue("task_id")) // outlives the request
	ctx, cancel := context.WithCancel(r.Context())
	out, in := io.Pipe()
	go func(c *api.Caller) { _ = in.CloseWithError(a.core.ExportTask(ctx, c, task, in)) }(r.Caller)
	body := bufio.NewReaderSize(out, writeSize)
	export := &export{Reader: body, end: func() error { cancel(); return out.Close() }, conn: r.HTTP.Conn(), patience: a.cfg.WriteTimeout}
	if _, err := body.Peek(1); err != nil {
		return errors.Join(firstError(err), export.Close())
	}
	r.HTTP.SetContentType(mediaZip)
	r.SetHeader("Content-Disposition", disposition(task+".zip"))
	r.SetHeader("X-Content-Type-Options", "nosniff")
	if r.HTTP.IsHead() {
		return export.Close()
	}
	r.HTTP.SetBodyStream(export, -1)
	return nil
}

func firstError(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the run bundle is empty")
	}
	return err
}

// export is a body that is being made while it is sent.
type export struct {
	io.Reader
	end      func() error
	conn     net.Conn
	patience time.Duration
}

// Read gives the client as long for each piece as for a whole short answer.
func (e *export) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if deadline := e.conn.SetWriteDeadline(time.Now().Add(e.patience)); deadline != nil {
		return 0, deadline
	}
	return n, err
}

// Close stops making it.
func (e *export) Close() error { return e.end() }
