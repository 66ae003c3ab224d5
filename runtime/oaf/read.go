package oaf

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// Fill is what whoever uploads a bundle says of its agent: it comes before what the bundle says.
type Fill struct{ Name, Description string }

// Read reads the agents of a bundle: one at its root, or in a folder, or several by PACKAGE.yaml.
// fill is for the first; nil is none.
func Read(t *filetree.Tree, fill *Fill) *Report {
	r := &reading{tree: t}
	folders := r.folders()
	out := &Report{}
	for i, folder := range folders {
		if a := r.agent(folder, fill); a != nil && len(r.errors) == 0 {
			out.Agents = append(out.Agents, *a)
		}
		if i == 0 {
			fill = nil
		}
	}
	r.sortPackage(out)
	out.Errors, out.Warnings = sorted(r.errors), sorted(r.warnings)
	return out
}

// Refused returns the report for a bundle that could not be read because of what is in it; false
// for other errors, which say nothing of it.
func Refused(err error) (*Report, bool) {
	refusal, ok := errors.AsType[*filetree.Refusal](err)
	if !ok {
		return nil, false
	}
	f := &findings{}
	f.fail(skillmd.Code(refusal.Code), refusal.File, 0, "%s", refusal.Reason)
	return &Report{Errors: f.errors}, true
}

// reading is a bundle that is read.
type reading struct {
	findings
	tree *filetree.Tree
	pack *packageList // nil without a PACKAGE.yaml
}

// folders returns where the agents of a bundle lie, "" for the root.
func (r *reading) folders() (found []string) {
	if f := r.tree.File(PackageFile); f != nil {
		r.pack = r.readPackage(f)
	}
	if r.tree.File(ManifestFile) != nil {
		return []string{""}
	}
	for _, f := range r.tree.Files {
		if dir, base := path.Split(f.Path); base == ManifestFile && strings.Count(dir, "/") == 1 {
			found = append(found, dir)
		}
	}
	switch {
	case len(found) == 0:
		r.fail(AgentMissing, ManifestFile, 0, "there is no %s in the bundle, and none in a folder of it: write one", ManifestFile)
	case len(found) > 1 && r.pack == nil:
		r.fail(AgentsSeveral, PackageFile, 0, "several folders hold an %s, and no %s says which is the first: write one", ManifestFile, PackageFile)
		return nil
	}
	return found
}

// below returns the files of a folder, from there on.
func below(files []filetree.File, folder string) (own []filetree.File) {
	for _, f := range files {
		if rest, ok := strings.CutPrefix(f.Path, folder); ok && rest != "" {
			own = append(own, filetree.File{Path: rest, Content: f.Content})
		}
	}
	return own
}

// agent reads the agent in a folder.
func (r *reading) agent(folder string, fill *Fill) *Agent {
	a := &Agent{Folder: strings.TrimSuffix(folder, "/")}
	for _, f := range below(r.tree.Files, folder) {
		switch {
		case f.Path == ManifestFile:
			a.Text = f.Content
		case folder == "" && f.Path == PackageFile:
		default:
			a.Files = append(a.Files, f)
		}
	}
	m := &manifest{findings: &r.findings, file: folder + ManifestFile, agent: a}
	if !m.read(fill) {
		return nil
	}
	return a
}

// packageList is what a PACKAGE.yaml says: its agents, in its order.
type packageList struct{ slugs []string }

// readPackage reads a PACKAGE.yaml. The three forms that are published differ in what nobody needs
// to know to read it: the mode of its contents.
func (r *reading) readPackage(f *filetree.File) *packageList {
	front, wrong := skillmd.ReadFront(PackageFile, slices.Concat([]byte("---\n"), trimDocument(f.Content), []byte("\n---\n")))
	for _, w := range wrong {
		r.fail(w.Code, PackageFile, max(1, w.Line-1), "%s", w.Message)
	}
	if front == nil {
		return &packageList{}
	}
	root, err := parseYAML(front.Text)
	if err != nil {
		r.fail(PackageInvalid, PackageFile, 1, "it is no YAML")
		return &packageList{}
	}
	list := &packageList{}
	agents := root.get("agents")
	if agents == nil || agents.value.kind != listKind {
		r.fail(PackageInvalid, PackageFile, 1, "it has no list of agents: write agents: and a line - slug: vendor/agent for each")
		return list
	}
	for i := range agents.value.items {
		item := &agents.value.items[i]
		slug := item.value
		if e := item.get("slug"); e != nil {
			slug = e.value.value
		}
		list.slugs = append(list.slugs, slug)
	}
	return list
}

// trimDocument takes off the lines that begin and end a YAML document.
func trimDocument(content []byte) []byte {
	s := strings.TrimSpace(strings.TrimPrefix(string(content), "\ufeff"))
	s = strings.TrimPrefix(s, "---\n")
	return []byte(strings.TrimSuffix(strings.TrimSuffix(s, "..."), "\n---"))
}

// sortPackage puts agents in the order of the package, and holds the package against them.
func (r *reading) sortPackage(out *Report) {
	if r.pack == nil || len(out.Agents) == 0 || len(r.errors) > 0 {
		return
	}
	place := func(a Agent) int {
		at := slices.IndexFunc(r.pack.slugs, a.is)
		if at < 0 {
			at = len(r.pack.slugs)
		}
		return at
	}
	slices.SortStableFunc(out.Agents, func(a, b Agent) int { return place(a) - place(b) })
	for _, slug := range r.pack.slugs {
		if !slices.ContainsFunc(out.Agents, func(a Agent) bool { return a.is(slug) }) {
			r.fail(PackageInvalid, PackageFile, 1, "it names the agent %q, which is not in the bundle", slug)
		}
	}
	for i := range out.Agents {
		if a := &out.Agents[i]; place(*a) == len(r.pack.slugs) && a.Folder != "" {
			r.warn(PackageInvalid, PackageFile, 1, "it does not name the agent in the folder %q, which is read all the same", a.Folder)
		}
	}
}

// is reports whether a package calls an agent so.
func (a Agent) is(slug string) bool {
	return slug == a.VendorKey+"/"+a.AgentKey || slug == a.Slug || slug == a.AgentKey || slug == a.Folder
}
