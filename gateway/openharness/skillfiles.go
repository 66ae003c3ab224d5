package openharness

import (
	"cmp"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// sentSkillRequest is what a client sends of a skill.
type sentSkillRequest struct {
	DisplayTitle string            `json:"display_title"`
	Category     abi.SkillCategory `json:"category"`
	Changelog    string            `json:"changelog"`

	files *api.SkillFiles
}

// maxMetadata is how many bytes say what a skill is called.
const maxMetadata = 16 << 10

// skillByForm reads a form: metadata as JSON, and the files with their paths as their names. A
// single zip is unpacked.
func skillByForm(r *gateway.Request) (*sentSkillRequest, error) {
	form, err := r.Multipart()
	if err != nil {
		return nil, err
	}
	req := &sentSkillRequest{}
	if len(form.Fields["changelog"]) > 0 {
		req.Changelog = form.Fields["changelog"][0]
	}
	metadata := form.Fields["metadata"]
	var files []gateway.UploadedFile
	for _, f := range form.Files {
		switch f.Field {
		case "metadata": // what is appended as a blob has a file's name
			text, err := io.ReadAll(io.LimitReader(f, maxMetadata))
			if err != nil {
				return nil, err
			}
			metadata = append(metadata, string(text))
		case "files", "files[]", "file":
			files = append(files, f)
		default:
			return nil, abi.InvalidParam(f.Field, "the files of a skill are sent as files, not as %.100q", f.Field)
		}
	}
	if err := req.describe(r, metadata); err != nil {
		return nil, err
	}
	req.files, err = treeOf(files)
	return req, err
}

// skillByZip reads a body that is an archive, which says nothing of the skill but what is in it.
func skillByZip(r *gateway.Request) (*sentSkillRequest, error) {
	body, err := r.Spooled()
	if err != nil {
		return nil, err
	}
	files, err := api.SkillZip(body, body.Size)
	return &sentSkillRequest{files: files}, err
}

// describe takes over what the metadata of a form say, which a skill that is registered needs.
func (s *sentSkillRequest) describe(r *gateway.Request, metadata []string) error {
	if r.Route.Operation != "skills.register" {
		return nil
	}
	if len(metadata) != 1 {
		return abi.InvalidParam("metadata", "the form needs one field metadata: a JSON object with display_title")
	}
	if err := json.Unmarshal([]byte(metadata[0]), s); err != nil {
		return abi.InvalidParam("metadata", "metadata must be a JSON object with texts: display_title, and category where it is not user")
	}
	if s.DisplayTitle == "" {
		return abi.InvalidParam("display_title", "metadata needs a display_title of 1 to 100 characters")
	}
	return nil
}

func treeOf(files []gateway.UploadedFile) (*api.SkillFiles, error) {
	if len(files) == 0 {
		return nil, abi.InvalidParam("files", "the form has no files: a skill has a %s", api.SkillMD)
	}
	if len(files) == 1 && strings.HasSuffix(strings.ToLower(files[0].Name), ".zip") {
		return api.SkillZip(files[0], files[0].Size)
	}
	return api.SkillTree(func(yield func(api.SkillFile, error) bool) {
		for i := range files {
			if !yield(api.SkillFile{Path: files[i].Path, Content: &files[i]}, nil) {
				return
			}
		}
	})
}

// jsonSkill is a skill as the clients of the protocol's authors send it: a source, which is a text
// or says of what type it is; or what would be in it beside the other members.
type jsonSkill struct {
	sentSkillRequest `json:",inline"`
	Source           jsontext.Value `json:"source"`
	skillSource      `json:",inline"`
}

// skillSource says where a skill is: at a URL, among the files of the harness, or here.
type skillSource struct {
	Type    string         `json:"type"`
	URL     string         `json:"url"`
	File    string         `json:"file"`
	Path    string         `json:"path"`
	Content string         `json:"content"` // of its SKILL.md
	Files   jsontext.Value `json:"files"`   // texts by their paths, or a list of {path, content}
}

func (a *Adapter) skillByJSON(r *gateway.Request, workspace string) (*sentSkillRequest, error) {
	var req jsonSkill
	if _, err := r.Decode(&req); err != nil {
		return nil, err
	}
	from := req.skillSource
	switch req.Source.Kind() {
	case '"':
		var text string
		if err := json.Unmarshal(req.Source, &text); err != nil {
			return nil, abi.InvalidParam("source", "source is no text")
		}
		from = sourceOf(text)
	case '{':
		from = skillSource{}
		if err := json.Unmarshal(req.Source, &from); err != nil {
			return nil, abi.InvalidParam("source", "source has texts: type, and url, path, or content")
		}
	}
	files, err := a.filesFrom(r, workspace, &from)
	req.sentSkillRequest.files = files
	return &req.sentSkillRequest, err
}

// sourceOf reads a source that is a text.
func sourceOf(text string) skillSource {
	if strings.Contains(text, "://") {
		return skillSource{URL: text}
	}
	return skillSource{Path: text}
}

func (a *Adapter) filesFrom(r *gateway.Request, workspace string, from *skillSource) (*api.SkillFiles, error) {
	path := cmp.Or(from.File, from.Path)
	switch {
	case from.URL != "":
		return api.FetchSkill(r.Context(), from.URL)
	case from.Content != "" || len(from.Files) > 0:
		return inlineSkill(from)
	case path != "":
		return a.core.SkillAt(r.Context(), r.Caller, workspace, path)
	}
	return nil, abi.InvalidParam("source", "say where the skill is: source with a url, with the path of a file of the harness, or with content; or send its files as a form")
}

func inlineSkill(from *skillSource) (*api.SkillFiles, error) {
	texts, err := inlineFilesOf(from.Files)
	if err != nil {
		return nil, err
	}
	if from.Content != "" {
		texts = append(texts, inlineFile{Path: api.SkillMD, Content: from.Content})
	}
	return api.SkillTree(each(texts))
}

type inlineFile struct {
	Path    string `json:"path"`
	Name    string `json:"name"` // another name for path
	Content string `json:"content"`
}

func inlineFilesOf(files jsontext.Value) (all []inlineFile, err error) {
	wrong := abi.InvalidParam("files", "files are texts by their paths, or a list of objects with path and content")
	switch files.Kind() {
	case '[':
		if err := json.Unmarshal(files, &all); err != nil {
			return nil, wrong
		}
	case '{':
		var byPath map[string]string
		if err := json.Unmarshal(files, &byPath); err != nil {
			return nil, wrong
		}
		for _, path := range slices.Sorted(maps.Keys(byPath)) {
			all = append(all, inlineFile{Path: path, Content: byPath[path]})
		}
	case 0:
	default:
		return nil, wrong
	}
	return all, nil
}

func each(texts []inlineFile) iter.Seq2[api.SkillFile, error] {
	return func(yield func(api.SkillFile, error) bool) {
		for _, f := range texts {
			if !yield(api.SkillFile{Path: cmp.Or(f.Path, f.Name), Content: strings.NewReader(f.Content)}, nil) {
				return
			}
		}
	}
}
