package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

const (
	// resourcesPage is how many resources a page of the list has at most.
	resourcesPage = 100
	// maxContent bounds what is read of a resource, in bytes: a file of a skill has no more.
	maxContent = 10 << 20
	// largeContent is from how many bytes on reading waits for a place, and largeReads how many there are:
	// what is read lies in memory, more than once, until the client has it.
	largeContent = 1 << 20
	largeReads   = 4
)

// resources serves what the node holds.
func (a *Adapter) resources() feature {
	return feature{
		methods: map[string]method{
			"resources/list":           a.listResources,
			"resources/templates/list": a.listTemplates,
			"resources/read":           a.readResource,
		},
		declare: func(c *sdk.ServerCapabilities, _ bool) {
			c.Resources = &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true}
		},
	}
}

// resourceEntry is a resource as clients read it.
type resourceEntry struct {
	URI         string       `json:"uri"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	MimeType    string       `json:"mimeType,omitempty"`
	Size        *int64       `json:"size,omitzero"`
	Annotations *annotations `json:"annotations,omitzero"`
}

type annotations struct {
	LastModified string `json:"lastModified"`
}

type resourceList struct {
	Resources []*resourceEntry `json:"resources"`
	listed    `json:",inline"`
}

// templateEntry is a template of resources as clients read it.
type templateEntry struct {
	Template    string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mimeType,omitempty"`
}

type templateList struct {
	Templates []*templateEntry `json:"resourceTemplates"`
	listed    `json:",inline"`
}

// contents are what is in a resource: text, or bytes.
type contents struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitzero"`
	Blob     []byte  `json:"blob,omitzero"` // in base64
}

type contentsRead struct {
	Contents []*contents `json:"contents"`
	listed   `json:",inline"`
}

func (a *Adapter) listResources(ctx context.Context, q *request) (sdk.Result, error) {
	cursor := ""
	if p, ok := q.params.(*sdk.ListResourcesParams); ok && p != nil {
		cursor = p.Cursor
	}
	some, next, err := a.library.list(ctx, q, cursor)
	if err != nil {
		return nil, err
	}
	return q.reply(resourceList{some, q.listed(next)})
}

func (a *Adapter) listTemplates(ctx context.Context, q *request) (sdk.Result, error) {
	if p, ok := q.params.(*sdk.ListResourceTemplatesParams); ok && p != nil && p.Cursor != "" {
		return nil, errCursor
	}
	offered, err := a.library.offeredTemplates(ctx, q)
	if err != nil {
		return nil, err
	}
	return q.reply(templateList{append(a.library.templates(q.caller), offered...), q.listed("")})
}

func (a *Adapter) readResource(ctx context.Context, q *request) (sdk.Result, error) {
	p, ok := q.params.(*sdk.ReadResourceParams)
	if !ok || p == nil || p.URI == "" {
		return nil, refuse(jsonrpc.CodeInvalidParams, "reading a resource takes its uri", nil)
	}
	if !ownScheme(p.URI) {
		return a.readOffered(ctx, q, p)
	}
	c, err := a.library.read(ctx, q.caller, p.URI)
	if err != nil {
		return nil, q.resourceError(err)
	}
	return q.reply(contentsRead{[]*contents{c}, q.listed("")})
}

// library shows what the node holds as resources. It is safe for concurrent use.
type library struct {
	core   *api.API
	skills manifests
	// offered returns the Skills that are resources.
	offered func(ctx context.Context, q *request) ([]*offered, error)
	large   chan struct{} // has one in it for each large resource that is being read
}

func newLibrary(core *api.API, skills func(ctx context.Context, q *request) ([]*offered, error)) *library {
	return &library{core: core, offered: skills, large: make(chan struct{}, largeReads)}
}

// unknownResource says that there is no such resource, or none that the caller may know of.
type unknownResource struct{ uri string }

func (e *unknownResource) Error() string { return "there is no resource " + e.uri }

// hidden returns an error that tells nobody whether there is something at a URI.
func hidden(uri string, err error) error {
	shown, ok := errors.AsType[*abi.Error](err)
	if !ok {
		return err
	}
	switch shown.Code {
	case abi.CodeResourceNotFound, abi.CodePermissionDenied, abi.CodeInvalidRequest, abi.CodeNotImplemented:
		return &unknownResource{uri}
	}
	return err
}

// codeNoResource is what revisions with sessions have for a resource that is not there. Later ones say
// that the parameters are wrong.
const codeNoResource = -32002

// resourceError puts an error about a resource into the words of the request's revision.
func (q *request) resourceError(err error) error {
	unknown, ok := errors.AsType[*unknownResource](err)
	if !ok {
		return err
	}
	code := codeNoResource
	if q.stateless {
		code = jsonrpc.CodeInvalidParams
	}
	return refuse(code, "Resource not found", map[string]string{"uri": unknown.uri})
}

// shelf is part of the list of all resources. It returns those after a place in it, at most so many,
// and where to go on: "" at its end.
type shelf struct {
	kind placeKind
	list func(l *library, ctx context.Context, q *request, after string, most int) (some []*resourceEntry, next string, err error)
}

// shelves are in the order in which the list has them.
func shelves() []shelf {
	return []shelf{
		{placeOffered, (*library).listOffered},
		{placeSkill, (*library).listSkillFiles},
		{placeArtifact, (*library).listArtifacts},
		{placeFile, (*library).listFiles},
		{placeReceipt, (*library).listReceipts},
	}
}

// listMark is a place in the list of all resources.
type listMark struct {
	Shelf int    `json:"s"`
	After string `json:"a,omitzero"`
}

// mark writes a place in a list for a client, to whom it says nothing.
func (m listMark) String() string {
	text, _ := json.Marshal(m) // a number and a text
	return base64.RawURLEncoding.EncodeToString(text)
}

var errCursor = abi.InvalidParam("cursor", "the cursor is none that this list has given out: begin without one")

func markOf(cursor string, shelves int) (m listMark, err error) {
	if cursor == "" {
		return listMark{}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(text, &m, json.RejectUnknownMembers(true)) != nil || m.Shelf < 0 || m.Shelf >= shelves {
		return listMark{}, errCursor
	}
	return m, nil
}

// list returns a page of all that the caller may read, without what it lacks the scope for, and where
// the next begins.
func (l *library) list(ctx context.Context, q *request, cursor string) (page []*resourceEntry, next string, err error) {
	all := shelves()
	at, err := markOf(cursor, len(all))
	if err != nil {
		return nil, "", err
	}
	page = []*resourceEntry{}
	for ; at.Shelf < len(all); at = (listMark{Shelf: at.Shelf + 1}) {
		from := all[at.Shelf]
		if !from.kind.mayLook(q.caller) {
			continue
		}
		if len(page) == resourcesPage {
			return page, at.String(), nil
		}
		some, next, err := from.list(l, ctx, q, at.After, resourcesPage-len(page))
		if err != nil {
			return nil, "", err
		}
		page = append(page, some...)
		if next != "" {
			return page, listMark{at.Shelf, next}.String(), nil
		}
	}
	return page, "", nil
}

func (l *library) listArtifacts(ctx context.Context, q *request, after string, most int) ([]*resourceEntry, string, error) {
	return pageFrom(func(p api.Page) (api.List, error) {
		return l.core.List(ctx, q.caller, abi.ObjectArtifact, q.within(), p)
	}, after, most, artifactResource)
}

func (l *library) listReceipts(ctx context.Context, q *request, after string, most int) ([]*resourceEntry, string, error) {
	return pageFrom(func(p api.Page) (api.List, error) {
		return l.core.List(ctx, q.caller, abi.ObjectReceipt, q.within(), p)
	}, after, most, receiptResource)
}

// pageFrom shows a page of a list as resources, but for what is none.
func pageFrom[T any](list func(api.Page) (api.List, error), after string, most int, show func(*T) *resourceEntry) (some []*resourceEntry, next string, err error) {
	page, err := list(api.Page{After: after, Limit: most})
	if err != nil {
		return nil, "", badCursor(err)
	}
	for _, view := range page.Views {
		var one T
		if err := json.Unmarshal(view.JSON, &one); err != nil {
			return nil, "", err
		}
		if shown := show(&one); shown != nil {
			some = append(some, shown)
		}
	}
	if page.More {
		next = page.Next
	}
	return some, next, nil
}

// badCursor says of an error about where a page begins that the client's cursor is the reason.
func badCursor(err error) error {
	if shown, ok := errors.AsType[*abi.Error](err); ok && (shown.Code == abi.CodeInvalidRequest || shown.Code == abi.CodeResourceNotFound) {
		return errCursor
	}
	return err
}

func artifactResource(a *abi.Artifact) *resourceEntry {
	if a.SizeBytes == nil {
		return nil // its content is elsewhere
	}
	return &resourceEntry{URI: place{kind: placeArtifact, id: a.ID}.uri(), Name: cmp.Or(a.Name, a.ID), MimeType: a.MimeType, Size: a.SizeBytes, Annotations: modified(a.UpdatedAt)}
}

func receiptResource(r *abi.ReceiptResource) *resourceEntry {
	return &resourceEntry{URI: place{kind: placeReceipt, id: r.ID}.uri(), Name: r.ID, Title: "Receipt of " + r.TaskID, MimeType: abi.MediaReceiptJSON, Annotations: modified(r.UpdatedAt)}
}

func fileResource(f *abi.File) *resourceEntry {
	at := place{kind: placeFile, workspace: f.WorkspaceID, path: f.Path}
	return &resourceEntry{URI: at.uri(), Name: f.Path, MimeType: f.MediaType, Size: &f.Size, Annotations: modified(f.UpdatedAt)}
}

func modified(at abi.Time) *annotations {
	if at.IsZero() {
		return nil
	}
	return &annotations{LastModified: at.UTC().Format(time.RFC3339)}
}

// maxVisited is how many Workspaces are looked into for one page.
const maxVisited = 100

// listFiles goes through one Workspace after the other. Where it is, is the Workspace before, and
// how many files and folders of the next it has seen.
func (l *library) listFiles(ctx context.Context, q *request, after string, most int) (some []*resourceEntry, next string, err error) {
	before, seen, err := fileMark(after)
	if err != nil {
		return nil, "", err
	}
	for range maxVisited {
		page, err := l.workspaceAfter(ctx, q, before)
		if err != nil {
			return nil, "", badCursor(err)
		}
		for _, view := range page.Views {
			files, more, err := l.core.WalkFiles(ctx, q.caller, view.ID, api.FileWalk{Recursive: true, Offset: seen, Limit: most - len(some)})
			if shown, ok := errors.AsType[*abi.Error](err); ok && shown.Code == abi.CodeNotImplemented {
				return nil, "", nil // the node keeps no files
			}
			if err != nil {
				return nil, "", err
			}
			for i := range files {
				if files[i].Object == objectFile {
					some = append(some, fileResource(&files[i]))
				}
			}
			if more {
				return some, before + markSeparator + strconv.Itoa(seen+len(files)), nil
			}
		}
		if !page.More {
			return some, "", nil
		}
		if before, seen = page.Next, 0; len(some) >= most {
			break
		}
	}
	return some, before + markSeparator + "0", nil
}

// workspaceAfter returns the Workspace after another in the list of those that the caller sees, or the one
// that the client has chosen.
func (l *library) workspaceAfter(ctx context.Context, q *request, before string) (api.List, error) {
	if q.workspace == "" {
		return l.core.List(ctx, q.caller, abi.ObjectWorkspace, api.Filter{}, api.Page{After: before, Limit: 1})
	}
	view, err := l.core.Get(ctx, q.caller, abi.ObjectWorkspace, q.workspace)
	return api.List{Views: []api.View{view}}, err
}

// within narrows a list to the Workspace that the client has chosen.
func (q *request) within() api.Filter { return api.Filter{WorkspaceID: q.workspace} }

// objectFile is what a file is, and not a folder.
const objectFile = "file"

const markSeparator = " "

func fileMark(after string) (workspace string, seen int, err error) {
	if after == "" {
		return "", 0, nil
	}
	workspace, count, ok := strings.Cut(after, markSeparator)
	seen, err = strconv.Atoi(count)
	if !ok || err != nil || seen < 0 {
		return "", 0, errCursor
	}
	return workspace, seen, nil
}

// templates lists those of what the caller may look at. There are few: all are one page.
func (l *library) templates(c *api.Caller) []*templateEntry {
	all := []*templateEntry{
		{Template: templateArtifact, Name: string(placeArtifact), Title: "Artifacts", Description: "The content of an Artifact, by its id."},
		{Template: templateFile, Name: string(placeFile), Title: "Files", Description: "A file of a Workspace, by its path."},
		{Template: templateReceipt, Name: string(placeReceipt), Title: "Receipts", Description: "The receipt that proves what a Task did, by its id.", MimeType: abi.MediaReceiptJSON},
		{Template: templateSkill, Name: string(placeSkill), Title: "Skills", Description: "A file of a skill that is installed in a Workspace. " + api.SkillMD + " is the one to read first."},
	}
	return slices.DeleteFunc(all, func(t *templateEntry) bool { return !placeKind(t.Name).mayLook(c) })
}

// read returns what is at a URI. What the caller may not see is what is not there, and so is what it
// lacks the scope for.
func (l *library) read(ctx context.Context, c *api.Caller, uri string) (*contents, error) {
	at, ok := placeOf(uri)
	if !ok || !at.kind.mayLook(c) {
		return nil, &unknownResource{uri}
	}
	found, err := l.contentsAt(ctx, c, at)
	if err != nil {
		return nil, hidden(uri, err)
	}
	found.URI = uri // as the client knows it
	return found, nil
}

func (l *library) contentsAt(ctx context.Context, c *api.Caller, at place) (*contents, error) {
	switch at.kind {
	case placeArtifact:
		return l.readArtifact(ctx, c, at.id)
	case placeReceipt:
		wire, err := l.core.ReceiptWire(ctx, c, at.id)
		if err != nil {
			return nil, err
		}
		return contentsOf(abi.MediaReceiptJSON, wire), nil
	case placeFile:
		return l.readFile(ctx, c, at)
	}
	return l.readSkillFile(ctx, c, at)
}

func (l *library) readArtifact(ctx context.Context, c *api.Caller, id string) (_ *contents, err error) {
	view, content, err := l.core.OpenArtifact(ctx, c, id)
	if err != nil {
		return nil, err
	}
	var about abi.Artifact
	if content != nil {
		defer func() { err = errors.Join(err, content.Close()) }()
	}
	if err := json.Unmarshal(view.JSON, &about); err != nil {
		return nil, err
	}
	if content == nil {
		return nil, elsewhere(&about)
	}
	if err := content.Verify(ctx); err != nil {
		return nil, err
	}
	bytes, err := l.take(ctx, content, content.Size(), "GET /v1/artifacts/"+id+"/content")
	if err != nil {
		return nil, err
	}
	return contentsOf(about.MimeType, bytes), nil
}

// elsewhere says where the content of an Artifact is, for Wharf does not hold it.
func elsewhere(a *abi.Artifact) error {
	if a.URI == nil {
		return abi.Errorf(abi.CodeConflict, "this node does not hold the content of artifact %s", a.ID)
	}
	return abi.Errorf(abi.CodeConflict, "this node does not hold the content of artifact %s: it is at %s", a.ID, *a.URI)
}

func (l *library) readFile(ctx context.Context, c *api.Caller, at place) (_ *contents, err error) {
	f, content, err := l.core.OpenFile(ctx, c, at.workspace, at.path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	bytes, err := l.take(ctx, content, f.Size, "GET /v1/workspaces/"+at.workspace+"/files?path=")
	if err != nil {
		return nil, err
	}
	return contentsOf(f.MediaType, bytes), nil
}

// take reads content of so many bytes. instead is how to get what has too many.
func (l *library) take(ctx context.Context, content io.Reader, size int64, instead string) ([]byte, error) {
	if size > maxContent {
		return nil, abi.Errorf(abi.CodePayloadTooLarge, "the resource has %d bytes, and one that is read here has at most %d: get it, or parts of it, with %s", size, maxContent, instead)
	}
	if size >= largeContent {
		select {
		case l.large <- struct{}{}:
			defer func() { <-l.large }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	bytes := make([]byte, size)
	if _, err := io.ReadFull(content, bytes); err != nil {
		return nil, fmt.Errorf("reading a resource: %w", err)
	}
	return bytes, nil
}

// contentsOf shows bytes as text where they are, else as they are.
func contentsOf(media string, bytes []byte) *contents {
	if textual(media) && isCharacters(bytes) {
		text := string(bytes)
		return &contents{MimeType: media, Text: &text}
	}
	return &contents{MimeType: media, Blob: bytes}
}

func isCharacters(bytes []byte) bool { return utf8.Valid(bytes) && !slices.Contains(bytes, 0) }

// textual reports whether content of a media type is made of characters. Of what has none, its bytes say.
func textual(media string) bool {
	kind, _, err := mime.ParseMediaType(media)
	switch {
	case media == "":
		return true
	case err != nil:
		return false
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"), strings.HasSuffix(kind, "+yaml"):
		return true
	}
	return slices.Contains([]string{"application/json", "application/xml", "application/yaml", "application/toml", "application/javascript", "application/x-sh", "application/x-ndjson"}, kind)
}
