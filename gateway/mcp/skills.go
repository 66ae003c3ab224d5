package mcp

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// extensionSkills is the extension by which clients load skills that are installed (SEP-2640).
const extensionSkills = "io.modelcontextprotocol/skills"

const (
	// skillsPage is how many skills are listed at once: each is told with all its files.
	skillsPage = 50
	// keptFiles is how many files the skills whose manifests are kept have altogether: some 200 bytes each.
	keptFiles = 20_000
)

const (
	mediaMarkdown  = "text/markdown"
	mediaDirectory = "inode/directory"
)

// skillFiles serves the skills that are installed in Workspaces.
func (a *Adapter) skillFiles() feature {
	methods := map[string]method{"skills/list": a.listSkills, "skills/get": a.getSkill, "resources/directory/read": a.readDirectory}
	return feature{
		methods: methods, unknown: slices.Sorted(maps.Keys(methods)),
		declare: func(c *sdk.ServerCapabilities, _ bool) {
			c.AddExtension(extensionSkills, map[string]any{"directoryRead": true})
		},
	}
}

// skillEntry is a skill as clients read it.
type skillEntry struct {
	URI       string         `json:"uri"`
	Front     jsontext.Value `json:"frontmatter"`
	Resources []skillFile    `json:"resources"`
}

type skillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

type skillList struct {
	Skills []*skillEntry `json:"skills"`
	listed `json:",inline"`
}

type oneSkill struct {
	Skill  *skillEntry `json:"skill"`
	listed `json:",inline"`
}

// atURI is what asks for something by its URI.
type atURI struct {
	URI    string `json:"uri"`
	Cursor string `json:"cursor"`
}

// listSkills lists the skills that the caller sees. One whose files cannot be read is left out.
func (a *Adapter) listSkills(ctx context.Context, q *request) (sdk.Result, error) {
	var p atURI
	if err := errors.Join(q.decode(&p), q.may(scopeSkills)); err != nil {
		return nil, err
	}
	at, err := markOf(p.Cursor, 1)
	if err != nil {
		return nil, err
	}
	bundles, next, err := a.library.bundles(ctx, q, at.After, skillsPage)
	if err != nil {
		return nil, err
	}
	answer := skillList{Skills: []*skillEntry{}}
	for i := range bundles {
		m, err := a.library.manifest(ctx, q.caller, &bundles[i])
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			a.log.Error("a skill cannot be read", slog.String("skill_bundle", bundles[i].ID), slog.Any("error", err))
			continue
		}
		answer.Skills = append(answer.Skills, entryOf(&bundles[i], m))
	}
	if next != "" {
		next = listMark{After: next}.String()
	}
	answer.listed = q.listed(next)
	return q.reply(answer)
}

func entryOf(b *abi.SkillBundle, m *api.SkillManifest) *skillEntry {
	entry := &skillEntry{URI: skillURI(b, api.SkillMD), Front: m.Front, Resources: make([]skillFile, len(m.Files))}
	for i, f := range m.Files {
		entry.Resources[i] = skillFile{skillURI(b, f.Path), "sha256:" + f.SHA256, f.Bytes}
	}
	return entry
}

// skillURI is the URI of a file of a skill.
func skillURI(b *abi.SkillBundle, path string) string {
	return place{kind: placeSkill, workspace: b.WorkspaceID, id: b.Name, path: path}.uri()
}

// getSkill returns the skill whose SKILL.md is at a URI.
func (a *Adapter) getSkill(ctx context.Context, q *request) (sdk.Result, error) {
	var p atURI
	if err := q.decode(&p); err != nil {
		return nil, err
	}
	at, b, m, err := a.library.skillAt(ctx, q.caller, p.URI)
	if err == nil && at.path != api.SkillMD {
		err = &unknownResource{p.URI}
	}
	if err != nil {
		return nil, skillError(err)
	}
	return q.reply(oneSkill{entryOf(b, m), q.listed("")})
}

// skillError puts an error into the words of the extension, which are the same in every revision.
func skillError(err error) error {
	if unknown, ok := errors.AsType[*unknownResource](err); ok {
		return refuse(jsonrpc.CodeInvalidParams, "Resource not found", map[string]string{"uri": unknown.uri})
	}
	return err
}

// readDirectory lists what is right in a folder of a skill.
func (a *Adapter) readDirectory(ctx context.Context, q *request) (sdk.Result, error) {
	var p atURI
	if err := q.decode(&p); err != nil {
		return nil, err
	}
	at, b, m, err := a.library.skillAt(ctx, q.caller, p.URI)
	if err != nil {
		return nil, skillError(err)
	}
	if p.Cursor != "" {
		return nil, errCursor // a folder is one page: a skill has at most 500 files
	}
	children := childrenOf(b, m, at.path)
	if len(children) == 0 {
		return nil, refuse(jsonrpc.CodeInvalidParams, "this is no directory", map[string]string{"uri": p.URI})
	}
	return q.reply(resourceList{children, q.listed("")})
}

// childrenOf returns what is right in a folder of a skill, "" for the skill itself: its files, and its
// folders once each. Of what is no folder there is nothing.
func childrenOf(b *abi.SkillBundle, m *api.SkillManifest, folder string) (all []*resourceEntry) {
	seen := map[string]bool{}
	for _, f := range m.Files {
		below := f.Path
		if folder != "" {
			var inside bool
			if below, inside = strings.CutPrefix(f.Path, folder+"/"); !inside {
				continue
			}
		}
		name, _, deeper := strings.Cut(below, "/")
		if seen[name] {
			continue
		}
		seen[name] = true
		path := strings.TrimSuffix(f.Path, below) + name
		if deeper {
			all = append(all, &resourceEntry{URI: skillURI(b, path), Name: name, MimeType: mediaDirectory})
			continue
		}
		all = append(all, &resourceEntry{URI: skillURI(b, path), Name: name, MimeType: api.MediaOf(name, nil), Size: &f.Bytes})
	}
	return all
}

// bundles returns a page of the skills that the caller sees, after one of them, and where to go on.
func (l *library) bundles(ctx context.Context, q *request, after string, most int) (some []abi.SkillBundle, next string, err error) {
	list, err := l.core.SkillBundles(ctx, q.caller, api.SkillFilter{WorkspaceID: q.workspace}, api.Page{After: after, Limit: most})
	if err != nil {
		return nil, "", badCursor(err)
	}
	for _, view := range list.Views {
		var b abi.SkillBundle
		if err := json.Unmarshal(view.JSON, &b); err != nil {
			return nil, "", err
		}
		some = append(some, b)
	}
	if list.More {
		next = list.Next
	}
	return some, next, nil
}

// listSkillFiles lists the file of each skill that is read first: it leads to the others.
func (l *library) listSkillFiles(ctx context.Context, q *request, after string, most int) (some []*resourceEntry, next string, err error) {
	bundles, next, err := l.bundles(ctx, q, after, most)
	for i := range bundles {
		b := &bundles[i]
		some = append(some, &resourceEntry{URI: skillURI(b, api.SkillMD), Name: b.Name, Title: b.DisplayTitle, Description: b.Description,
			MimeType: mediaMarkdown, Annotations: modified(b.InstalledAt)})
	}
	return some, next, err
}

// skillAt returns the skill that a URI is in, and what is in it.
func (l *library) skillAt(ctx context.Context, c *api.Caller, uri string) (place, *abi.SkillBundle, *api.SkillManifest, error) {
	at, ok := placeOf(uri)
	if !ok || at.kind != placeSkill || !at.kind.mayLook(c) {
		return place{}, nil, nil, &unknownResource{uri}
	}
	b, err := l.bundle(ctx, c, at)
	if err != nil {
		return place{}, nil, nil, hidden(uri, err)
	}
	m, err := l.manifest(ctx, c, b)
	return at, b, m, err
}

// bundle returns the skill of a place.
func (l *library) bundle(ctx context.Context, c *api.Caller, at place) (*abi.SkillBundle, error) {
	list, err := l.core.SkillBundles(ctx, c, api.SkillFilter{WorkspaceID: at.workspace, Name: at.id}, api.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(list.Views) == 0 {
		return nil, abi.NotFound(abi.ObjectSkillBundle, at.id)
	}
	var b abi.SkillBundle
	err = json.Unmarshal(list.Views[0].JSON, &b)
	return &b, err
}

func (l *library) readSkillFile(ctx context.Context, c *api.Caller, at place) (*contents, error) {
	b, err := l.bundle(ctx, c, at)
	if err != nil {
		return nil, err
	}
	bytes, err := l.core.SkillBundleFile(ctx, c, b.ID, b.Version, at.path)
	if err != nil {
		return nil, err
	}
	return contentsOf(api.MediaOf(at.path, bytes), bytes), nil
}

// manifest returns what the version of a skill that is used holds. The caller sees the skill.
func (l *library) manifest(ctx context.Context, c *api.Caller, b *abi.SkillBundle) (*api.SkillManifest, error) {
	if m := l.skills.get(b.Archive); m != nil {
		return m, nil
	}
	m, err := l.core.SkillManifest(ctx, c, b.ID, b.Version)
	if err != nil {
		return nil, err
	}
	l.skills.put(b.Archive, m)
	return m, nil
}

// manifests are what archives of skills hold, by the hash of the archive. They are bounded, and safe
// for concurrent use.
type manifests struct {
	mu    sync.Mutex
	kept  map[string]*api.SkillManifest
	files int
}

func (k *manifests) get(archive string) *api.SkillManifest {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept[archive]
}

func (k *manifests) put(archive string, m *api.SkillManifest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil || k.files+len(m.Files) > keptFiles {
		k.kept, k.files = map[string]*api.SkillManifest{}, 0
	}
	if k.kept[archive] == nil {
		k.kept[archive] = m
		k.files += len(m.Files)
	}
}
