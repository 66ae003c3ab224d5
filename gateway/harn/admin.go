package harn

import (
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) createKey(r *gateway.Request) error {
	var req abi.CreateKeyRequest
	if _, err := r.Decode(&req); err != nil {
		return err
	}
	doc, err := a.core.CreateKey(r.Context(), r.Caller, req)
	if err != nil {
		return err
	}
	return a.send(r, statusCreated, doc)
}

func (a *Adapter) listKeys(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.ListKeys(r.Context(), r.Caller, p)
	})
}

func (a *Adapter) revokeKey(r *gateway.Request) error {
	doc, err := a.core.RevokeKey(r.Context(), r.Caller, r.PathValue("key_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

// backupRequest is the body of POST /wharf/v1/backup, and of its answer.
type backupRequest struct {
	Dir string `json:"dir" doc:"An absolute path on the node's machine."`
}

func (a *Adapter) backup(r *gateway.Request) error {
	var req backupRequest
	if _, err := r.Decode(&req); err != nil {
		return err
	}
	if !filepath.IsAbs(req.Dir) {
		return abi.InvalidParam("dir", "dir must be an absolute path on the node's machine")
	}
	if err := a.core.Backup(r.Context(), r.Caller, req.Dir); err != nil {
		return err
	}
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	r.Send(statusCreated, body)
	return nil
}
