package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// Workspaces lists the Workspaces that the key sees, newest first.
func (c *Client) Workspaces(ctx context.Context) ([]Doc[abi.Workspace], error) {
	return collect[abi.Workspace](ctx, c, Get("/v1/workspaces"), nil)
}

// CreateSession starts a Session. key is the Idempotency-Key, "" for none.
func (c *Client) CreateSession(ctx context.Context, req abi.CreateSessionRequest, key string) (doc Doc[abi.Session], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: "/v1/sessions", header: idempotent(key)}, req, &doc)
	return doc, err
}

// SubmitOptions says how a Task is submitted.
type SubmitOptions struct {
	// Wait asks the node to answer when the Task has ended, or after so long.
	Wait           time.Duration
	IdempotencyKey string
}

// Submit submits a Task. With Wait the Task returned may have ended.
func (c *Client) Submit(ctx context.Context, req abi.SubmitTaskRequest, o SubmitOptions) (doc Doc[abi.Task], err error) {
	header := idempotent(o.IdempotencyKey)
	if o.Wait > 0 {
		header["Prefer"] = fmt.Sprintf("wait=%d", max(1, int(o.Wait.Seconds())))
	}
	err = c.call(ctx, request{method: http.MethodPost, path: "/v1/tasks", header: header, patience: patience + o.Wait}, req, &doc)
	return doc, err
}

// idempotent returns the headers of a write with the given key, "" for none.
func idempotent(key string) map[string]string {
	if key == "" {
		return map[string]string{}
	}
	return map[string]string{"Idempotency-Key": key}
}

// Task returns a Task.
func (c *Client) Task(ctx context.Context, id string) (doc Doc[abi.Task], err error) {
	err = c.call(ctx, request{method: http.MethodGet, path: "/v1/tasks/" + url.PathEscape(id)}, nil, &doc)
	return doc, err
}

// TaskFilter narrows a list of Tasks. Empty members do not narrow.
type TaskFilter struct {
	WorkspaceID string
	SessionID   string
	Statuses    []abi.TaskStatus
}

// Tasks lists at most limit Tasks, newest first.
func (c *Client) Tasks(ctx context.Context, f TaskFilter, limit int) ([]Doc[abi.Task], error) {
	return collect(ctx, c, Get("/v1/tasks").Narrow("workspace_id", f.WorkspaceID).Narrow("session_id", f.SessionID).Most(limit), f.keep())
}

// keep returns the part of the filter that the node does not know, nil for none.
func (f *TaskFilter) keep() func(*abi.Task) bool {
	if len(f.Statuses) == 0 {
		return nil
	}
	return func(t *abi.Task) bool {
		for _, s := range f.Statuses {
			if t.Status == s {
				return true
			}
		}
		return false
	}
}

func setIf(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}

// Outcome returns the Outcome of a Task that has ended.
func (c *Client) Outcome(ctx context.Context, id string) (doc Doc[abi.Outcome], err error) {
	err = c.call(ctx, request{method: http.MethodGet, path: "/v1/outcomes/" + url.PathEscape(id)}, nil, &doc)
	return doc, err
}

// Upload describes content to be stored as an Artifact.
type Upload struct {
	Name                           string
	MimeType                       string
	WorkspaceID, SessionID, TaskID string

	Size    int64
	Content io.Reader

	IdempotencyKey string
}

// UploadArtifact streams content into a new Artifact.
func (c *Client) UploadArtifact(ctx context.Context, u Upload) (doc Doc[abi.Artifact], err error) {
	query := url.Values{"kind": {string(abi.ArtifactFile)}, "visibility": {string(abi.VisibilityPublic)}}
	setIf(query, "name", u.Name)
	setIf(query, "workspace_id", u.WorkspaceID)
	setIf(query, "session_id", u.SessionID)
	setIf(query, "task_id", u.TaskID)
	err = c.call(ctx, request{
		method: http.MethodPost, path: "/v1/artifacts", query: query,
		header: withHeader(idempotent(u.IdempotencyKey), "Content-Type", u.MimeType), body: u.Content, size: u.Size, patience: -1,
	}, nil, &doc)
	return doc, err
}

// Readiness is what a node says of whether it takes work.
type Readiness struct {
	Status   string `json:"status"`
	SetAside int    `json:"set_aside,omitzero"`
}

// Ready asks a node whether it takes work; it is no error that it does not.
func (c *Client) Ready(ctx context.Context) (said Readiness, ready bool, err error) {
	ctx, cancel := c.patient(ctx, 0)
	defer cancel()
	resp, err := c.exchange(ctx, request{method: http.MethodGet, path: "/readyz"})
	if err != nil {
		return said, false, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return said, false, c.unreachable(ctx, err)
	}
	if err := json.Unmarshal(body, &said); err != nil || said.Status == "" {
		return said, false, &Stray{Server: c.base, Status: resp.StatusCode, Start: excerpt(body), Err: err}
	}
	return said, resp.StatusCode == http.StatusOK, nil
}

// Backup makes the node write a copy of its data to dir, an absolute path on the
// node's machine.
func (c *Client) Backup(ctx context.Context, dir string) error {
	body := struct {
		Dir string `json:"dir"`
	}{dir}
	return c.call(ctx, request{method: http.MethodPost, path: "/wharf/v1/backup", patience: -1}, body, nil)
}
