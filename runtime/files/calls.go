package files

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// Performers are the calls of plugins that the keeper answers. What a write changes lies
// outside the log: its intent is recorded first, and the call is made again after a crash.
func (k *Keeper) Performers() map[string]provider.Performer {
	return map[string]provider.Performer{
		abi.CallFileRead:   reads(k, k.readFor),
		abi.CallFileList:   reads(k, k.listFor),
		abi.CallFileSearch: reads(k, k.searchFor),
		abi.CallFileWrite:  writes(k, k.writeFor),
		abi.CallFileEdit:   writes(k, k.editFor),
		abi.CallFileRemove: writes(k, k.removeFor),
	}
}

// performer answers one call.
type performer func(ctx context.Context, c *provider.Call) (provider.Plan, error)

// Prepare implements [provider.Performer].
func (p performer) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	return p(ctx, c)
}

// reads answers a call that changes nothing.
func reads[T any](k *Keeper, answer func(ctx context.Context, at *place, req *T) (any, error)) performer {
	return func(_ context.Context, c *provider.Call) (provider.Plan, error) {
		req, err := k.asked(c, new(T))
		if err != nil {
			return provider.Plan{}, err
		}
		return provider.Plan{Effect: abi.EffectRead, Do: func(ctx context.Context, _ func(string)) ([]byte, error) {
			return k.within(c, false, func(at *place) (any, error) { return answer(ctx, at, req.(*T)) })
		}}, nil
	}
}

// writes answers a call that changes a file.
func writes[T any](k *Keeper, answer func(ctx context.Context, at *place, call string, req *T) (any, error)) performer {
	return func(_ context.Context, c *provider.Call) (provider.Plan, error) {
		req, err := k.asked(c, new(T))
		if err != nil {
			return provider.Plan{}, err
		}
		call := c.IdempotencyKey
		return provider.Plan{Effect: abi.EffectWrite, Repeatable: true,
			Do: func(ctx context.Context, _ func(string)) ([]byte, error) {
				return k.within(c, true, func(at *place) (any, error) { return answer(ctx, at, call, req.(*T)) })
			},
			Forget: func() error {
				_, err := k.within(c, true, func(at *place) (any, error) { return nil, k.change(at, func() error { return at.unmark(call) }) })
				return err
			}}, nil
	}
}

// asked reads a request into req.
func (k *Keeper) asked(c *provider.Call, req any) (any, error) {
	if k.parts.Root == nil {
		return nil, provider.Refuse(abi.CallUnavailable, "not_configured", "this node keeps no files")
	}
	if len(c.Request) > 0 {
		if err := json.Unmarshal(c.Request, req); err != nil {
			return nil, provider.Malformed(err)
		}
	}
	if err := check(req); err != nil {
		return nil, provider.Malformed(err)
	}
	return req, nil
}

// check refuses a request that no Workspace could answer.
func check(req any) error {
	switch r := req.(type) {
	case *abi.CallFileReadRequest:
		if r.Offset < 0 || r.Length < 0 {
			return abi.InvalidParam("offset", "offset and length must not be negative")
		}
		return checkPath(r.Path)
	case *abi.CallFileWriteRequest:
		return checkWrite(r)
	case *abi.CallFileEditRequest:
		if r.Old == "" || r.Old == r.New {
			return abi.InvalidParam("old", "old is the text to replace, and new another one")
		}
		return cmp.Or(checkPath(r.Path), checkSum(r.SHA256))
	case *abi.CallFileRemoveRequest:
		r.Path = strings.TrimSuffix(r.Path, "/")
		return cmp.Or(checkPath(r.Path), checkSum(r.SHA256))
	case *abi.CallFileListRequest:
		r.Path = strings.TrimSuffix(r.Path, "/")
		return cmp.Or(checkPath(cmp.Or(r.Path, "any")), checkLimit(&r.Limit))
	case *abi.CallFileSearchRequest:
		r.Path = strings.TrimSuffix(r.Path, "/")
		return cmp.Or(checkPath(cmp.Or(r.Path, "any")), checkLimit(&r.Limit))
	}
	return nil
}

func checkWrite(r *abi.CallFileWriteRequest) error {
	r.Mode = cmp.Or(r.Mode, abi.FileReplace)
	switch {
	case r.Text != "" && len(r.Body) > 0:
		return abi.InvalidParam("body", "the content is text or body, not both")
	case r.Mode != abi.FileReplace && r.Mode != abi.FileCreate && r.Mode != abi.FileAppend:
		return abi.InvalidParam("mode", "mode is replace, create or append")
	case r.Mode == abi.FileCreate && r.SHA256 != "":
		return abi.InvalidParam("sha256", "a file that is created has no content before")
	}
	return cmp.Or(checkPath(r.Path), checkSum(r.SHA256))
}

func checkSum(sum string) error {
	if _, err := hex.DecodeString(sum); sum != "" && (err != nil || len(sum) != 64 || strings.ToLower(sum) != sum) {
		return abi.InvalidParam("sha256", "sha256 is 64 hexadecimal digits")
	}
	return nil
}

// maxEntries is how many entries or matches one call gives.
const maxEntries = 1000

func checkLimit(limit *int) error {
	if *limit = cmp.Or(*limit, 100); *limit < 1 || *limit > maxEntries {
		return abi.InvalidParam("limit", "limit is 1 to %d", maxEntries)
	}
	return nil
}

// within answers a call in the folder of its Workspace, nil when there is none and make is
// false.
func (k *Keeper) within(c *provider.Call, make bool, f func(*place) (any, error)) ([]byte, error) {
	tenant, err := k.parts.TenantOf(c.Tenant)
	if err != nil {
		return nil, err
	}
	at, err := k.open(storage.Frame{Tenant: tenant, WorkspaceID: c.WorkspaceID, SessionID: c.SessionID, TaskID: c.TaskID, Actor: c.PersonaID}, make)
	if err != nil {
		return nil, refused(err)
	}
	defer at.Close()
	answer, err := f(at)
	if err != nil {
		return nil, refused(err)
	}
	return json.Marshal(answer)
}

// refused makes an answer for the plugin of an error that it can do something about.
func refused(err error) error {
	var own *abi.Error
	if !errors.As(err, &own) {
		return err
	}
	status := map[abi.ErrorCode]abi.CallStatus{
		abi.CodeInvalidRequest: abi.CallInvalid, abi.CodeConflict: abi.CallInvalid, abi.CodeResourceNotFound: abi.CallNotFound,
		abi.CodePayloadTooLarge: abi.CallTooLarge, abi.CodeServiceUnavailable: abi.CallUnavailable,
	}[own.Code]
	if status == abi.CallOK {
		return err
	}
	return provider.Refuse(status, string(own.Code), own.Message)
}

func (k *Keeper) readFor(ctx context.Context, at *place, req *abi.CallFileReadRequest) (any, error) {
	f, info, err := at.file(req.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	answer := &abi.CallFileReadAnswer{Path: req.Path, Offset: req.Offset, Size: info.Size(), UpdatedAt: abi.At(info.ModTime())}
	if info.Size() <= MaxBytes {
		if answer.SHA256, err = hashOf(ctx, f, info.Size()); err != nil {
			return nil, k.parts.Ledger.Failed("reading a workspace's file", err)
		}
	}
	most := min(MaxBytes, k.parts.MostTold)
	if req.Length > 0 {
		most = min(most, req.Length)
	}
	content := make([]byte, max(0, min(most, info.Size()-req.Offset)))
	n, err := f.ReadAt(content, req.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, k.parts.Ledger.Failed("reading a workspace's file", err)
	}
	if content = content[:n]; isText(content) {
		answer.Text = string(content)
	} else {
		answer.Body = content
	}
	return answer, nil
}

// isText reports whether content is told as text: it takes at most twice its size then.
func isText(content []byte) bool {
	return utf8.Valid(content) && !bytes.ContainsFunc(content, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f
	})
}

// once makes a change that a call asks for, unless the call has made it before.
func (k *Keeper) once(at *place, call string, again func(*mark) error, f func() error) error {
	return k.change(at, func() error {
		m, sure, err := at.made(call)
		switch {
		case err != nil:
			return k.parts.Ledger.Failed("reading a workspace's mark", err)
		case !sure:
			return provider.Refuse(abi.CallIndeterminate, "indeterminate",
				"the node died while this call was under way, and somebody has changed the file meanwhile: it may have happened or not")
		case m != nil:
			return again(m)
		}
		return f()
	})
}

// marked makes a change under its mark, which goes when nothing was changed.
func (k *Keeper) marked(ctx context.Context, at *place, call string, m *mark, f func() error) error {
	m.Task = at.frame.TaskID
	var err error
	if !m.begun {
		err = k.parts.Ledger.Failed("marking a change", at.mark(call, m))
	}
	if err == nil {
		err = f()
	}
	if err == nil {
		return k.parts.Ledger.Failed("marking a change", at.confirm(call))
	}
	if now, bad := at.now(context.WithoutCancel(ctx), m.Path); bad == nil && !m.Folder && now.SHA256 == m.Before {
		return errors.Join(err, at.unmark(call))
	}
	return err
}

func (k *Keeper) writeFor(ctx context.Context, at *place, call string, req *abi.CallFileWriteRequest) (any, error) {
	m, err := k.writeOnce(ctx, at, call, req.Path, func(m *mark) (content io.Reader, err error) {
		m.Before, content, err = k.toWrite(ctx, at, req)
		return content, err
	})
	if err != nil {
		return nil, err
	}
	return &abi.CallFileWriteAnswer{Path: m.Path, Size: m.Size, SHA256: m.After, BeforeSHA256: m.Before}, nil
}

func (k *Keeper) editFor(ctx context.Context, at *place, call string, req *abi.CallFileEditRequest) (any, error) {
	m, err := k.writeOnce(ctx, at, call, req.Path, func(m *mark) (io.Reader, error) { return k.edited(ctx, at, req, m) })
	if err != nil {
		return nil, err
	}
	return &abi.CallFileEditAnswer{Path: m.Path, Size: m.Size, SHA256: m.After, BeforeSHA256: m.Before, Replaced: m.Replaced}, nil
}

// writeOnce makes the change of a file that a call asks for, unless the call has made it before,
// and returns its mark. content says what the file is to hold, and notes in the mark what it is.
func (k *Keeper) writeOnce(ctx context.Context, at *place, call, name string, content func(*mark) (io.Reader, error)) (made *mark, err error) {
	again := func(m *mark) error {
		made = m
		f := described(at.key.ID, m.Path, m.Size, m.After, at.mediaAt(m.Path), k.parts.Now())
		return k.tell(at, abi.EventFileWritten, &f) // it may not have been told yet
	}
	err = k.once(at, call, again, func() error {
		made = &mark{Path: name}
		text, err := content(made)
		if err != nil {
			return err
		}
		d, err := k.draft(at, text, MaxBytes, footprint(at.root, name), k.drop)
		if err != nil {
			return err
		}
		made.After, made.Size = d.sum, d.size
		put := false
		err = k.marked(ctx, at, call, made, func() error {
			put = true
			_, err := k.put(at, name, d)
			return err
		})
		if !put {
			return errors.Join(err, k.drop(at, d))
		}
		return err
	})
	return made, err
}

// edited returns what a file holds when a text in it was replaced.
func (k *Keeper) edited(ctx context.Context, at *place, req *abi.CallFileEditRequest, m *mark) (io.Reader, error) {
	is, old, err := k.small(ctx, at, req.Path)
	switch {
	case err != nil:
		return nil, err
	case is.SHA256 == "":
		return nil, errNoFile(req.Path)
	case req.SHA256 != "" && req.SHA256 != is.SHA256:
		return nil, errOther()
	}
	m.Before, m.Replaced = is.SHA256, bytes.Count(old, []byte(req.Old))
	switch {
	case m.Replaced == 0:
		return nil, abi.Errorf(abi.CodeConflict, "%q does not have the old text: it must be exactly as in the file", req.Path)
	case m.Replaced > 1 && !req.All:
		return nil, abi.Errorf(abi.CodeConflict, "%q has the old text %d times: give more of what is around it, or set all", req.Path, m.Replaced)
	case int64(len(old))+int64(m.Replaced)*int64(len(req.New)-len(req.Old)) > MaxBytes:
		return nil, errTooLarge()
	}
	return bytes.NewReader(bytes.ReplaceAll(old, []byte(req.Old), []byte(req.New))), nil
}

// small returns a file that a plugin changes, and what it holds; without a hash for none.
func (k *Keeper) small(ctx context.Context, at *place, name string) (abi.File, []byte, error) {
	is, err := at.now(ctx, name)
	switch {
	case err != nil:
		return is, nil, k.parts.Ledger.Failed("reading a workspace's file", err)
	case is.SHA256 == "":
		return is, nil, nil
	case is.Size > MaxBytes:
		return is, nil, errTooLarge()
	}
	content, err := at.root.ReadFile(name)
	return is, content, k.parts.Ledger.Failed("reading a workspace's file", err)
}

func errTooLarge() error {
	return abi.Errorf(abi.CodePayloadTooLarge, "a file that a plugin writes has at most %d bytes", MaxBytes)
}

// toWrite returns what is there, and what is to be there.
func (k *Keeper) toWrite(ctx context.Context, at *place, req *abi.CallFileWriteRequest) (before string, content io.Reader, err error) {
	is, err := at.now(ctx, req.Path)
	if err != nil {
		return "", nil, k.parts.Ledger.Failed("reading a workspace's file", err)
	}
	when := Condition{Absent: req.Mode == abi.FileCreate}
	if req.SHA256 != "" {
		when.Match = `"` + req.SHA256 + `"`
	}
	if err := when.check(is.SHA256); err != nil {
		return "", nil, err
	}
	content = io.MultiReader(strings.NewReader(req.Text), bytes.NewReader(req.Body))
	if req.Mode != abi.FileAppend || is.Size == 0 {
		return is.SHA256, content, nil
	}
	_, old, err := k.small(ctx, at, req.Path)
	return is.SHA256, io.MultiReader(bytes.NewReader(old), content), err
}

func (k *Keeper) removeFor(ctx context.Context, at *place, call string, req *abi.CallFileRemoveRequest) (any, error) {
	answer := &abi.CallFileRemoveAnswer{Path: req.Path}
	told := func(m *mark) error {
		answer.BeforeSHA256, answer.Removed = m.Before, m.Removed
		return nil
	}
	err := k.once(at, call, told, func() error {
		m, err := k.toRemove(ctx, at, call, req)
		if err != nil {
			return err
		}
		_ = told(m) // it has no error
		return k.marked(ctx, at, call, m, func() error { return k.removeMarked(ctx, at, m) })
	})
	return answer, err
}

// toRemove says what a call removes. Of a folder that is what was there when the call was first
// made: if the node died in it, it goes on with that.
func (k *Keeper) toRemove(ctx context.Context, at *place, call string, req *abi.CallFileRemoveRequest) (*mark, error) {
	if m, err := at.readMark(markOf(markBegun, call)); err == nil && m.Folder {
		m.begun = true
		return m, nil
	}
	if info, err := at.root.Lstat(req.Path); err == nil && info.IsDir() {
		return k.folderToRemove(ctx, at, req)
	}
	before, err := at.now(ctx, req.Path)
	switch {
	case err != nil:
		return nil, k.parts.Ledger.Failed("reading a workspace's file", err)
	case before.SHA256 == "":
		return nil, errNoFile(req.Path)
	case req.SHA256 != "" && req.SHA256 != before.SHA256:
		return nil, errOther()
	}
	return &mark{Path: req.Path, Before: before.SHA256}, nil
}

func (k *Keeper) folderToRemove(ctx context.Context, at *place, req *abi.CallFileRemoveRequest) (*mark, error) {
	if req.SHA256 != "" {
		return nil, errOther()
	}
	inside, err := k.inside(ctx, at, req.Path, req.Recursive, maxEntries)
	if err != nil {
		return nil, err
	}
	m := &mark{Path: req.Path, Folder: true, Folders: inside.folders}
	for _, p := range inside.files {
		is, err := at.now(ctx, p)
		if err != nil {
			return nil, k.parts.Ledger.Failed("reading a workspace's file", err)
		}
		m.Removed = append(m.Removed, abi.RemovedFile{Path: p, BeforeSHA256: is.SHA256})
	}
	return m, nil
}

// removeMarked removes what a mark names, as far as it is still that.
func (k *Keeper) removeMarked(ctx context.Context, at *place, m *mark) error {
	files := m.Removed
	if !m.Folder {
		files = []abi.RemovedFile{{Path: m.Path, BeforeSHA256: m.Before}}
	}
	for _, f := range files {
		is, err := at.now(context.WithoutCancel(ctx), f.Path)
		if err != nil {
			return k.parts.Ledger.Failed("reading a workspace's file", err)
		}
		if is.SHA256 != f.BeforeSHA256 {
			continue // others have written it since the node died
		}
		if err := k.remove(at, &is); err != nil {
			return err
		}
	}
	_, err := k.removeFolders(at, m.Folders)
	return err
}
