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
	case *abi.CallFileRemoveRequest:
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
	answer := &abi.CallFileReadAnswer{Path: req.Path, Size: info.Size(), UpdatedAt: abi.At(info.ModTime())}
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
	err := k.parts.Ledger.Failed("marking a change", at.mark(call, m))
	if err == nil {
		err = f()
	}
	if err == nil {
		return k.parts.Ledger.Failed("marking a change", at.confirm(call))
	}
	if now, bad := at.now(context.WithoutCancel(ctx), m.Path); bad == nil && now.SHA256 == m.Before {
		return errors.Join(err, at.unmark(call))
	}
	return err
}

func (k *Keeper) writeFor(ctx context.Context, at *place, call string, req *abi.CallFileWriteRequest) (any, error) {
	var answer *abi.CallFileWriteAnswer
	told := func(m *mark) {
		answer = &abi.CallFileWriteAnswer{Path: m.Path, Size: m.Size, SHA256: m.After, BeforeSHA256: m.Before}
	}
	again := func(m *mark) error {
		told(m)
		f := described(at.key.ID, m.Path, m.Size, m.After, k.parts.Now())
		return k.tell(at, abi.EventFileWritten, &f) // it may not have been told yet
	}
	err := k.once(at, call, again, func() error {
		before, content, err := k.toWrite(ctx, at, req)
		if err != nil {
			return err
		}
		d, err := k.draft(at, content, MaxBytes, footprint(at.root, req.Path), k.drop)
		if err != nil {
			return err
		}
		m := &mark{Path: req.Path, Before: before, After: d.sum, Size: d.size}
		put := false
		err = k.marked(ctx, at, call, m, func() error {
			put = true
			_, err := k.put(at, req.Path, d)
			return err
		})
		if !put {
			return errors.Join(err, k.drop(at, d))
		}
		told(m)
		return err
	})
	return answer, err
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
	if is.Size > MaxBytes {
		return "", nil, abi.Errorf(abi.CodePayloadTooLarge, "a file that a plugin writes has at most %d bytes", MaxBytes)
	}
	old, err := at.root.ReadFile(req.Path)
	if err != nil {
		return "", nil, k.parts.Ledger.Failed("reading a workspace's file", err)
	}
	return is.SHA256, io.MultiReader(bytes.NewReader(old), content), nil
}

func (k *Keeper) removeFor(ctx context.Context, at *place, call string, req *abi.CallFileRemoveRequest) (any, error) {
	answer := &abi.CallFileRemoveAnswer{Path: req.Path}
	again := func(m *mark) error {
		answer.BeforeSHA256 = m.Before
		return nil
	}
	err := k.once(at, call, again, func() error {
		before, err := at.now(ctx, req.Path)
		switch {
		case err != nil:
			return k.parts.Ledger.Failed("reading a workspace's file", err)
		case before.SHA256 == "":
			return errNoFile(req.Path)
		case req.SHA256 != "" && req.SHA256 != before.SHA256:
			return Condition{Match: `"` + req.SHA256 + `"`}.check(before.SHA256)
		}
		answer.BeforeSHA256 = before.SHA256
		return k.marked(ctx, at, call, &mark{Path: req.Path, Before: before.SHA256}, func() error { return k.remove(at, &before) })
	})
	return answer, err
}
