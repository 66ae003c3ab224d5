package mcp

//lint:file-ignore SA1019 clients may use what is deprecated as long as the protocol has it

import (
	"context"
	"encoding/base64"
	"fmt"
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

// tools serves Skills as tools.
func (a *Adapter) tools() feature {
	return feature{
		methods: map[string]method{"tools/list": a.listTools, "tools/call": a.callTool},
		declare: func(c *sdk.ServerCapabilities, _ bool) { c.Tools = &sdk.ToolCapabilities{ListChanged: true} },
	}
}

// toolsPage is how many tools are listed at once.
const toolsPage = 200

// toolDoc is a tool as clients read it.
type toolDoc struct {
	Name         string         `json:"name"`
	Title        string         `json:"title,omitempty"`
	Description  string         `json:"description,omitempty"`
	InputSchema  jsontext.Value `json:"inputSchema"`
	OutputSchema jsontext.Value `json:"outputSchema,omitempty"`
	Annotations  jsontext.Value `json:"annotations,omitempty"`
	Execution    *execution     `json:"execution,omitzero"`
	Icons        jsontext.Value `json:"icons,omitempty"`
	Meta         jsontext.Value `json:"_meta,omitempty"`
}

// execution says how a tool may be called.
type execution struct {
	TaskSupport string `json:"taskSupport,omitempty"`
}

// told is what a Skill's metadata says to MCP clients, below "mcp".
type told struct {
	As          string         `json:"as"` // "tool", "" for the same, "prompt" or "resource"
	Title       string         `json:"title"`
	Annotations jsontext.Value `json:"annotations"`
	TaskSupport string         `json:"task_support"` // forbidden, optional or required
	Icons       jsontext.Value `json:"icons"`
	// URI, or URITemplate, is where a resource is, and MimeType what it is.
	URI         string         `json:"uri"`
	URITemplate string         `json:"uri_template"`
	MimeType    string         `json:"mime_type"`
	Meta        jsontext.Value `json:"_meta"`
	// Requires are what a client must be able to do: elicitation, sampling, roots.
	Requires []string `json:"requires"`
	// TaskAfter is "input" where a call becomes a task when its first questions are answered.
	TaskAfter string `json:"task_after"`
}

// asPrompt is what As says of a Skill that is a prompt, and no tool.
const asPrompt = "prompt"

// offered is a Skill that a caller can use, under its name in the protocol.
type offered struct {
	abi.Skill
	tool string
	told told
	// headers are the arguments that headers repeat.
	headers []paramIn
}

// skills returns the Skills that the caller can use, by their names in the protocol, in order: those
// that are told as tools, or as something else. A Skill whose name another has, or is none in the
// protocol, gets one that its id makes its own; the older one keeps it.
func (a *Adapter) skills(ctx context.Context, q *request, as string) ([]*offered, error) {
	if err := q.may("skills:read"); err != nil {
		return nil, err
	}
	var all []*offered
	for page := (api.Page{Limit: 1000}); ; {
		list, err := a.core.List(ctx, q.caller, abi.ObjectSkill, api.Filter{WorkspaceID: q.workspace}, page)
		if err != nil {
			return nil, err
		}
		for _, v := range list.Views {
			s, err := a.decoded.skill(v)
			if err != nil {
				return nil, err
			}
			if s.PersonaID != "" && s.told.As == as {
				all = append(all, s)
			}
		}
		if !list.More {
			break
		}
		page.After = list.Next
	}
	name(all)
	slices.SortFunc(all, func(x, y *offered) int { return strings.Compare(x.tool, y.tool) })
	return all, nil
}

// keptSkills is how much text of Skills is kept with what it was decoded to, in bytes.
const keptSkills = 8 << 20

// decodedSkills are Skills by their text, so that each is decoded once and not with each request. Who may see
// which is not its concern: whoever looks has the text. It is bounded, and safe for concurrent use.
type decodedSkills struct {
	mu   sync.Mutex
	kept map[string]*offered
	size int
}

// skill decodes a Skill. What it returns is the caller's, but for what it refers to.
func (d *decodedSkills) skill(v api.View) (*offered, error) {
	d.mu.Lock()
	s := d.kept[string(v.JSON)]
	d.mu.Unlock()
	if s != nil {
		again := *s
		return &again, nil
	}
	s = &offered{}
	if err := json.Unmarshal(v.JSON, &s.Skill); err != nil {
		return nil, fmt.Errorf("reading skill %s: %w", v.ID, err)
	}
	s.told, s.headers = toldOf(&s.Skill), paramsIn(s.InputSchema)
	d.put(string(v.JSON), s)
	again := *s
	return &again, nil
}

func (d *decodedSkills) put(text string, s *offered) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil || d.size+len(text) > keptSkills {
		d.kept, d.size = map[string]*offered{}, 0
	}
	if d.kept[text] == nil {
		d.kept[text] = s
		d.size += len(text)
	}
}

// toldOf reads what a Skill's metadata says. Whoever makes a Skill may write anything there: what
// cannot be read says nothing.
func toldOf(s *abi.Skill) told {
	var of struct {
		MCP told `json:"mcp"`
	}
	if len(s.Metadata) > 0 && json.Unmarshal(s.Metadata, &of) != nil {
		return told{}
	}
	if of.MCP.As == "tool" {
		of.MCP.As = ""
	}
	return of.MCP
}

// name gives Skills, which are newest first, their names.
func name(all []*offered) {
	taken := map[string]bool{}
	for _, s := range slices.Backward(all) {
		s.tool = toolName(s.Name)
		if taken[s.tool] || s.tool == "" {
			s.tool = s.tool[:min(len(s.tool), maxToolName-len(s.ID)-1)] + "_" + s.ID
		}
		taken[s.tool] = true
	}
}

// maxToolName is how long a tool's name may be.
const maxToolName = 128

// toolName makes a name that the protocol has for tools: letters, digits, and "_-.".
func toolName(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r) {
			return r
		}
		return '_'
	}, s)
	return clean[:min(len(clean), maxToolName)]
}

// doc returns a Skill as a tool.
func (s *offered) doc() toolDoc {
	d := toolDoc{Name: s.tool, Title: s.told.Title, Description: s.Description, InputSchema: s.InputSchema, Annotations: objectOr(s.told.Annotations),
		Icons: s.told.Icons, Meta: objectOr(s.told.Meta)}
	if d.Title == "" && s.Name != s.tool {
		d.Title = s.Name
	}
	if d.InputSchema.Kind() != '{' {
		d.InputSchema = jsontext.Value(`{"type":"object"}`)
	}
	if s.OutputSchema.Kind() == '{' {
		d.OutputSchema = s.OutputSchema
	}
	if s.told.TaskSupport != "" {
		d.Execution = &execution{s.told.TaskSupport}
	}
	return d
}

// objectOr returns an object, or nothing.
func objectOr(v jsontext.Value) jsontext.Value {
	if v.Kind() != '{' {
		return nil
	}
	return v
}

// listed is what lists have in common in revision 2026-07-28: how long, and by whom, they may be kept.
type listed struct {
	NextCursor string `json:"nextCursor,omitempty"`
	TTL        *int   `json:"ttlMs,omitempty"`
	Scope      string `json:"cacheScope,omitempty"`
}

// listed says how a list may be kept: not at all, for what a caller may use can change at any time.
func (q *request) listed(next string) listed {
	l := listed{NextCursor: next}
	if q.stateless {
		l.TTL, l.Scope = new(int), "private"
	}
	return l
}

type toolList struct {
	Tools  []toolDoc `json:"tools"`
	listed `json:",inline"`
}

// has refuses a call of a tool that needs what its client has not declared.
func (q *request) has(required []string) error {
	missing := map[string]any{}
	c := q.capabilities()
	for _, name := range required {
		there := c != nil && (name == "elicitation" && c.Elicitation != nil || name == "sampling" && c.Sampling != nil || name == "roots" && c.RootsV2 != nil)
		if !there {
			missing[name] = struct{}{}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return refuse(sdk.CodeMissingRequiredClientCapabilities, "this tool needs what the client has not declared", map[string]any{"requiredCapabilities": missing})
}

func (a *Adapter) listTools(ctx context.Context, q *request) (sdk.Result, error) {
	all, err := a.skills(ctx, q, "")
	if err != nil {
		return nil, err
	}
	cursor := ""
	if p, ok := q.params.(*sdk.ListToolsParams); ok && p != nil {
		cursor = p.Cursor
	}
	page, next, err := pageOf(all, cursor, toolsPage, func(s *offered) string { return s.tool })
	if err != nil {
		return nil, err
	}
	docs := make([]toolDoc, 0, len(page))
	for _, s := range page {
		if !s.Deprecated {
			docs = append(docs, s.doc())
		}
	}
	return q.reply(toolList{docs, q.listed(next)})
}

// pageOf returns the part of a list after a cursor, and the next cursor. The list is in the order of
// its keys. A cursor is a key, so it stays good while others come and go.
func pageOf[T any](all []T, cursor string, most int, key func(T) string) (page []T, next string, err error) {
	from := 0
	if cursor != "" {
		after, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || len(after) == 0 {
			return nil, "", refuse(jsonrpc.CodeInvalidParams, "the cursor is none of this list", nil)
		}
		from, _ = slices.BinarySearchFunc(all, string(after), func(s T, after string) int {
			if key(s) <= after {
				return -1
			}
			return 1
		})
	}
	page = all[from:min(from+most, len(all))]
	if from+len(page) < len(all) {
		next = base64.RawURLEncoding.EncodeToString([]byte(key(page[len(page)-1])))
	}
	return page, next, nil
}
