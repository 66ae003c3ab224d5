package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/provider/web"
)

// scopeFiles is the scope of those who may read the files of a Workspace.
const scopeFiles = "workspaces:read"

// Bounds of what is looked at in a Workspace.
const (
	maxFolders    = 2000 // that are looked into for skills
	folderEntries = 500  // that are listed at once
)

// FoundSkill is a folder of a Workspace with a SKILL.md.
type FoundSkill struct {
	Name      string // as its SKILL.md says, else the folder's
	Path      string // of the folder
	Installed bool   // a skill of that name is installed in the Workspace
}

// FindSkills looks for skills in folders of a Workspace, at any depth. A folder that is not there
// has none. It looks into so many folders as it can, and no further.
func (a *API) FindSkills(ctx context.Context, c *Caller, workspace string, folders []string) ([]FoundSkill, error) {
	if !c.Can(scopeFiles) {
		return nil, desk.Denied(scopeFiles)
	}
	s := &skillSearch{api: a, ctx: ctx, caller: c, workspace: workspace, seen: map[string]bool{}}
	for _, folder := range folders {
		if err := s.look(strings.Trim(path.Clean("/"+folder), "/")); err != nil {
			return nil, err
		}
	}
	return s.found, nil
}

// skillSearch looks for skills in the files of a Workspace.
type skillSearch struct {
	api       *API
	ctx       context.Context // of the one call that the search lives for
	caller    *Caller
	workspace string
	seen      map[string]bool
	found     []FoundSkill
}

func (s *skillSearch) look(folder string) error {
	if s.seen[folder] || len(s.seen) >= maxFolders {
		return nil
	}
	s.seen[folder] = true
	files, err := s.api.folder(s.ctx, s.caller, s.workspace, folder)
	if shown, ok := errors.AsType[*abi.Error](err); ok && shown.Code == abi.CodeResourceNotFound && folder != "" {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		switch {
		case f.Object == "folder":
			err = s.look(f.Path)
		case path.Base(f.Path) == SkillMD && folder != "":
			err = s.take(folder)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *skillSearch) take(folder string) error {
	skill := FoundSkill{Name: path.Base(folder), Path: folder}
	files, err := SkillTree(func(yield func(SkillFile, error) bool) {
		s.api.yieldFile(s.ctx, s.caller, s.workspace, folder+"/"+SkillMD, SkillMD, yield)
	})
	if _, invalid := errors.AsType[*InvalidSkillError](err); err != nil && !invalid {
		return err
	}
	if err == nil {
		if read := CheckSkill(files).Skill; read != nil && read.Name != "" {
			skill.Name = read.Name
		}
	}
	list, err := s.api.core.SkillBundles(s.ctx, s.caller, SkillFilter{WorkspaceID: s.workspace, Name: skill.Name}, Page{Limit: 1})
	skill.Installed = len(list.Docs) > 0
	s.found = append(s.found, skill)
	return err
}

// folder lists all that is in a folder of a Workspace.
func (a *API) folder(ctx context.Context, c *Caller, workspace, dir string) (all []abi.File, err error) {
	page := Page{Limit: folderEntries}
	for {
		list, err := a.core.ListFiles(ctx, c, workspace, dir, page)
		if err != nil {
			return nil, err
		}
		for _, doc := range list.Docs {
			var f abi.File
			if err := json.Unmarshal(doc.JSON, &f); err != nil {
				return nil, err
			}
			all = append(all, f)
		}
		if !list.More {
			return all, nil
		}
		page.After = list.Next
	}
}

// yieldFile passes on a file of a Workspace; false when no more are wanted.
func (a *API) yieldFile(ctx context.Context, c *Caller, workspace, at, as string, yield func(SkillFile, error) bool) bool {
	_, content, err := a.core.OpenFile(ctx, c, workspace, at)
	if err != nil {
		return yield(SkillFile{}, err)
	}
	defer content.Close()
	return yield(SkillFile{Path: as, Content: content}, nil)
}

// SkillAt reads a skill that lies among the files of a Workspace: a folder, a zip, or a SKILL.md.
func (a *API) SkillAt(ctx context.Context, c *Caller, workspace, at string) (*SkillFiles, error) {
	if !c.Can(scopeFiles) {
		return nil, desk.Denied(scopeFiles)
	}
	at = strings.TrimSuffix(at, "/")
	if path.Base(at) == SkillMD {
		return SkillTree(func(yield func(SkillFile, error) bool) { a.yieldFile(ctx, c, workspace, at, SkillMD, yield) })
	}
	f, content, err := a.core.OpenFile(ctx, c, workspace, at)
	if err == nil {
		defer content.Close()
		return SkillZip(content, f.Size)
	}
	if shown, ok := errors.AsType[*abi.Error](err); !ok || shown.Code != abi.CodeResourceNotFound {
		return nil, err
	}
	return SkillTree(func(yield func(SkillFile, error) bool) { a.yieldFolder(ctx, c, workspace, at, path.Base(at), yield) })
}

func (a *API) yieldFolder(ctx context.Context, c *Caller, workspace, at, as string, yield func(SkillFile, error) bool) bool {
	files, err := a.folder(ctx, c, workspace, at)
	if err != nil {
		return yield(SkillFile{}, err)
	}
	for _, f := range files {
		to := as + "/" + path.Base(f.Path)
		more := false
		if f.Object == "folder" {
			more = a.yieldFolder(ctx, c, workspace, f.Path, to, yield)
		} else {
			more = a.yieldFile(ctx, c, workspace, f.Path, to, yield)
		}
		if !more {
			return false
		}
	}
	return true
}

// Bounds of the fetch of a skill.
const (
	fetchTime    = 30 * time.Second
	maxRedirects = 3
)

// FetchSkill reads a skill that lies elsewhere: a zip, or a SKILL.md. It is fetched over https, and
// from no address that the node does not connect to for callers.
func FetchSkill(ctx context.Context, from string) (*SkillFiles, error) {
	transport := web.Transport(web.Reach{})
	defer transport.CloseIdleConnections()
	return fetchSkill(ctx, transport, from)
}

func fetchSkill(ctx context.Context, transport http.RoundTripper, from string) (*SkillFiles, error) {
	if err := checkSource(from); err != nil {
		return nil, err
	}
	client := &http.Client{Transport: transport, Timeout: fetchTime, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errors.New("it leads on and on")
		}
		return checkSource(r.URL.String())
	}}
	content, err := fetched(ctx, client, from)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(content, []byte("PK")) {
		return SkillTree(func(yield func(SkillFile, error) bool) {
			yield(SkillFile{Path: SkillMD, Content: bytes.NewReader(content)}, nil)
		})
	}
	return SkillZip(bytes.NewReader(content), int64(len(content)))
}

func checkSource(from string) error {
	if u, err := url.Parse(from); err != nil || u.Scheme != "https" {
		return abi.InvalidParam("url", "a skill is fetched from a URL of https")
	}
	return web.CheckURL(from, true) // the transport decides on addresses
}

func fetched(ctx context.Context, client *http.Client, from string) (_ []byte, err error) {
	failed := func(why string) error { return abi.InvalidParam("url", "the skill could not be fetched: %s", why) }
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, failed("the URL is malformed")
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, failed(web.Reason(err))
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return nil, failed(fmt.Sprintf("the server answered %d", answer.StatusCode))
	}
	content, err := io.ReadAll(io.LimitReader(answer.Body, MaxSkillArchive+1))
	switch {
	case err != nil:
		return nil, failed(web.Reason(err))
	case len(content) > MaxSkillArchive:
		return nil, abi.Errorf(abi.CodePayloadTooLarge, "the zip of a skill has at most %d bytes", MaxSkillArchive)
	}
	return content, nil
}
