package openharness

import (
	"errors"
	"mime"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) skillRoutes() []gateway.Route {
	const reads, writes, one = "skills:read", "skills:write", "skills/{skillId}"
	raw := func(rt gateway.Route) gateway.Route {
		rt.Body = gateway.BodyRaw
		return rt
	}
	discover := post("skills/discover", "skills.discover", reads, "Look for skills among the files of a harness", statusOK, a.at(a.discoverSkills))
	discover.Or, discover.Body, discover.Idempotent = fasthttp.MethodGet, gateway.BodyOptionalJSON, false
	validate := raw(post("skills/validate", "skills.validate", reads, "Say what is wrong with a skill", statusOK, a.at(a.validateSkill)))
	validate.Idempotent = false
	download := read(one+"/download", "skills.download", reads, "Download a skill", a.at(a.skill(a.downloadSkill)))
	download.Media = mediaZip
	return []gateway.Route{
		read("skills", "skills.list", reads, "List skills", a.at(a.listSkills)),
		raw(post("skills", "skills.register", writes, "Install a skill", statusCreated, a.at(a.registerSkill))),
		discover, validate,
		read(one, "skills.get", reads, "Get a skill", a.at(a.skill(a.getSkill))),
		patch(one, "skills.update", writes, "Change what a skill is called", a.at(a.skill(a.updateSkill))),
		remove(one, "skills.uninstall", writes, "Uninstall a skill", a.at(a.skill(a.uninstallSkill))),
		read(one+"/versions", "skills.listVersions", reads, "List the versions of a skill", a.at(a.skill(a.listSkillVersions))),
		post(one+"/rollback", "skills.rollback", writes, "Use a version of a skill again", statusOK, a.at(a.skill(a.rollbackSkill))),
		download,
		raw(post(one+"/upgrade", "skills.upgrade", writes, "Install another version of a skill", statusOK, a.at(a.skill(a.upgradeSkill)))),
	}
}

// skill is a skill as the protocol shows it, with what its authors' clients read besides.
type skill struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	DisplayTitle string            `json:"display_title"`
	Description  string            `json:"description"`
	Version      string            `json:"version"`
	Vendor       string            `json:"vendor"`
	Author       string            `json:"author,omitzero"`
	Category     abi.SkillCategory `json:"category"`
	Digest       string            `json:"digest"`
	InstalledAt  abi.Time          `json:"installed_at"`
	CreatedAt    abi.Time          `json:"created_at"`
	UpdatedAt    abi.Time          `json:"updated_at"`
}

func shownSkill(view api.View) (skill, error) {
	b, err := as[abi.SkillBundle](view)
	return skill{ID: b.ID, Name: b.Name, DisplayTitle: b.DisplayTitle, Description: b.Description, Version: b.Version, Vendor: b.Vendor, Author: b.Vendor,
		Category: b.Category, Digest: b.Digest, InstalledAt: b.InstalledAt, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt}, err
}

type skillAnswer struct {
	Skill           skill  `json:"skill"`
	PreviousVersion string `json:"previous_version,omitzero"` // of an upgrade or a rollback
}

func sentSkill(r *gateway.Request, status int, written api.View, previous string) error {
	one, err := shownSkill(written)
	if err != nil {
		return err
	}
	return sent(r, status, written, skillAnswer{one, previous})
}

// skillHandler answers a request about a skill of a harness.
type skillHandler func(r *gateway.Request, b *abi.SkillBundle) error

// skill finds the skill that the path names, by its id or its name: one of another harness is none.
func (a *Adapter) skill(does skillHandler) handler {
	return func(r *gateway.Request, h *abi.Harness) error {
		id := r.PathValue("skillId")
		list, err := a.core.SkillBundles(r.Context(), r.Caller, api.SkillFilter{WorkspaceID: h.WorkspaceID, Name: id}, api.Page{Limit: 1})
		if err != nil {
			return err
		}
		if len(list.Views) == 0 {
			view, err := a.core.SkillBundle(r.Context(), r.Caller, id)
			if err != nil {
				return err
			}
			list.Views = []api.View{view}
		}
		b, err := as[abi.SkillBundle](list.Views[0])
		switch {
		case err != nil:
			return err
		case b.WorkspaceID != h.WorkspaceID:
			return abi.NotFound(abi.ObjectSkillBundle, id)
		}
		return does(r, &b)
	}
}

func (a *Adapter) listSkills(r *gateway.Request, h *abi.Harness) error {
	category, err := oneOf(r, "category", abi.SkillUser, abi.SkillPlugin, abi.SkillBuiltin, abi.SkillOrganization)
	if err != nil {
		return err
	}
	return listed(r, func(p api.Page) (api.List, error) {
		return a.core.SkillBundles(r.Context(), r.Caller, api.SkillFilter{WorkspaceID: h.WorkspaceID, Category: category}, p)
	}, shownSkill, "skills")
}

func (a *Adapter) getSkill(r *gateway.Request, b *abi.SkillBundle) error {
	view, err := a.core.SkillBundle(r.Context(), r.Caller, b.ID)
	if err != nil {
		return err
	}
	return sentSkill(r, statusOK, view, "")
}

func (a *Adapter) registerSkill(r *gateway.Request, h *abi.Harness) error {
	sent, err := a.sentSkillFiles(r, h.WorkspaceID)
	if err != nil {
		return err
	}
	retry, err := r.Retry(nil) // the engine judges by what is asked for and the files' digest
	if err != nil {
		return err
	}
	made, err := a.core.InstallSkillBundle(r.Context(), r.Caller, retry, abi.InstallSkillBundleRequest{WorkspaceID: h.WorkspaceID,
		DisplayTitle: sent.DisplayTitle, Category: sent.Category, Changelog: sent.Changelog}, sent.files)
	if err != nil {
		return badBundle(err)
	}
	return sentSkill(r, statusCreated, made, "")
}

func (a *Adapter) upgradeSkill(r *gateway.Request, b *abi.SkillBundle) error {
	sent, err := a.sentSkillFiles(r, b.WorkspaceID)
	if err != nil {
		return err
	}
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	written, previous, err := a.core.UpgradeSkillBundle(r.Context(), r.Caller, retry, b.ID, abi.UpgradeSkillBundleRequest{Changelog: sent.Changelog}, sent.files)
	if err != nil {
		return badBundle(err)
	}
	return sentSkill(r, statusOK, written, previous)
}

// badBundle says of files that are no skill what the protocol says of them.
func badBundle(err error) error {
	invalid, ok := errors.AsType[*api.InvalidSkillError](err)
	if !ok {
		return err
	}
	var shown *abi.Error
	if !errors.As(err, &shown) {
		return err
	}
	told := *shown
	told.Code, told.Status = codeInvalidBundle, 422
	if code := invalid.Report.Errors[0].Code; code == "TOO_LARGE" || code == "FILE_TOO_LARGE" {
		told.Code, told.Status = abi.CodePayloadTooLarge, 413
	}
	return &told
}

type updateSkillRequest struct {
	DisplayTitle *string            `json:"display_title"`
	Category     *abi.SkillCategory `json:"category"`
}

func (a *Adapter) updateSkill(r *gateway.Request, b *abi.SkillBundle) error {
	req, retry, err := decode[updateSkillRequest](r)
	if err != nil {
		return err
	}
	written, err := a.core.UpdateSkillBundle(r.Context(), r.Caller, retry, b.ID, abi.UpdateSkillBundleRequest{DisplayTitle: req.DisplayTitle, Category: req.Category})
	if err != nil {
		return err
	}
	return sentSkill(r, statusOK, written, "")
}

func (a *Adapter) uninstallSkill(r *gateway.Request, b *abi.SkillBundle) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.UninstallSkillBundle(r.Context(), r.Caller, retry, b.ID); err != nil {
		return err
	}
	return empty(r)
}

type skillVersion struct {
	Version   string   `json:"version"`
	CreatedAt abi.Time `json:"created_at"`
	Changelog string   `json:"changelog,omitzero"`
	Digest    string   `json:"digest"`
}

type skillVersionsAnswer struct {
	SkillID        string         `json:"skill_id"`
	CurrentVersion string         `json:"current_version"`
	Versions       []skillVersion `json:"versions"`
}

func (a *Adapter) listSkillVersions(r *gateway.Request, b *abi.SkillBundle) error {
	kept, err := a.core.SkillBundleVersions(r.Context(), r.Caller, b.ID)
	if err != nil {
		return err
	}
	answer := skillVersionsAnswer{SkillID: b.ID, CurrentVersion: kept.CurrentVersion, Versions: []skillVersion{}}
	for _, v := range kept.Versions {
		answer.Versions = append(answer.Versions, skillVersion{v.Version, v.InstalledAt, v.Changelog, v.Digest})
	}
	return send(r, statusOK, &answer)
}

func (a *Adapter) rollbackSkill(r *gateway.Request, b *abi.SkillBundle) error {
	req, retry, err := decode[abi.RollbackSkillBundleRequest](r)
	if err != nil {
		return err
	}
	written, previous, err := a.core.RollbackSkillBundle(r.Context(), r.Caller, retry, b.ID, req)
	if err != nil {
		return err
	}
	return sentSkill(r, statusOK, written, previous)
}

func (a *Adapter) downloadSkill(r *gateway.Request, b *abi.SkillBundle) error {
	name, _, zip, err := a.core.OpenSkillBundle(r.Context(), r.Caller, b.ID, r.Query("version"))
	if err != nil {
		return err
	}
	r.SetHeader("Content-Type", mediaZip)
	r.SetHeader("X-Content-Type-Options", "nosniff")
	r.SetHeader("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name + ".zip"}))
	r.HTTP.SetBodyStream(zip, int(zip.Size()))
	return nil
}

type discoverRequest struct {
	SearchPaths []string `json:"search_paths"`
}

type discoveredSkill struct {
	Name              string            `json:"name"`
	Path              string            `json:"path"`
	Category          abi.SkillCategory `json:"category"`
	AlreadyRegistered bool              `json:"already_registered"`
}

type discoverAnswer struct {
	Discovered []discoveredSkill `json:"discovered"`
	Skills     []discoveredSkill `json:"skills"` // the same, where other clients look
}

// maxSearchPaths is how many folders a client may have looked into besides the harness's own.
const maxSearchPaths = 20

func (a *Adapter) discoverSkills(r *gateway.Request, h *abi.Harness) error {
	var req discoverRequest
	if _, err := r.Decode(&req); err != nil {
		return err
	}
	for _, path := range r.HTTP.QueryArgs().PeekMulti("search_paths") {
		req.SearchPaths = append(req.SearchPaths, string(path))
	}
	if len(req.SearchPaths) > maxSearchPaths {
		return abi.InvalidParam("search_paths", "at most %d folders are searched at once", maxSearchPaths)
	}
	folders := slices.Concat([]string{h.SkillsPath}, req.SearchPaths)
	if h.SkillsPath == "" {
		folders[0] = "skills"
	}
	found, err := a.core.FindSkills(r.Context(), r.Caller, h.WorkspaceID, folders)
	if err != nil {
		return err
	}
	answer := discoverAnswer{Discovered: []discoveredSkill{}}
	for _, f := range found {
		answer.Discovered = append(answer.Discovered, discoveredSkill{f.Name, f.Path, abi.SkillUser, f.Installed})
	}
	answer.Skills = answer.Discovered
	return send(r, statusOK, &answer)
}

// issue is one thing that is wrong with a skill.
type issue struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitzero"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

type skillVerdict struct {
	Valid    bool    `json:"valid"`
	Errors   []issue `json:"errors"`
	Warnings []issue `json:"warnings"`
}

// validateSkill says what is wrong with a skill. That something is, is no error.
func (a *Adapter) validateSkill(r *gateway.Request, h *abi.Harness) error {
	sent, err := a.readSkillFiles(r, h.WorkspaceID)
	if invalid, ok := errors.AsType[*api.InvalidSkillError](err); ok {
		return send(r, statusOK, validated(invalid.Report))
	}
	if err != nil {
		return err
	}
	return send(r, statusOK, validated(api.CheckSkill(sent.files)))
}

func validated(report *api.SkillReport) *skillVerdict {
	return &skillVerdict{Valid: report.Valid, Errors: issues(report.Errors), Warnings: issues(report.Warnings)}
}

func issues(findings []api.SkillFinding) []issue {
	all := []issue{}
	for _, f := range findings {
		all = append(all, issue{File: strings.ToValidUTF8(f.File, "\uFFFD"), Line: f.Line, Message: f.Message, Code: string(f.Code)})
	}
	return all
}

// sentSkillFiles is readSkillFiles for what is to be installed.
func (a *Adapter) sentSkillFiles(r *gateway.Request, workspace string) (*sentSkillRequest, error) {
	sent, err := a.readSkillFiles(r, workspace)
	return sent, badBundle(err)
}

// readSkillFiles reads the files of a skill, in whichever of the forms that clients have.
func (a *Adapter) readSkillFiles(r *gateway.Request, workspace string) (*sentSkillRequest, error) {
	media, _, _ := mime.ParseMediaType(r.Header("Content-Type"))
	if media == gateway.MediaJSON || strings.HasSuffix(media, "+json") {
		return a.skillByJSON(r, workspace)
	}
	if media == mediaZip {
		return skillByZip(r)
	}
	return skillByForm(r)
}
