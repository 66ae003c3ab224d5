package harn

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) skillBundleRoutes() []gateway.Route {
	const tag, reads, writes = "Skills", "skills:read", "skills:write"
	const all = "/wharf/v1/skill-bundles"
	const one = all + "/{skill_bundle_id}"
	const content = "A JSON body has a zip of the folder with its SKILL.md, in base64; any other media type is the zip itself, described by the query parameters. Of one that is no skill the error says where it is wrong, and nothing is kept."
	install := post(all, "installSkillBundle", tag, writes, "InstallSkillBundleRequest", "SkillBundle", "Install a skill in a Workspace", statusCreated, a.installSkillBundle).
		with(installParams()...).doc(content)
	upgrade := post(one+"/versions", "upgradeSkillBundle", tag, writes, "UpgradeSkillBundleRequest", "SkillBundleChange", "Install another version of a skill", statusOK, a.upgradeSkillBundle).
		with(installParams()[3]).
		doc("The version is above the one that is used; a SKILL.md that states none has the next minor version. Tasks that have begun keep theirs. " + content)
	install.Body, upgrade.Body = gateway.BodyRaw, gateway.BodyRaw
	download := read(one+"/content", "getSkillBundleContent", tag, reads, "", "Get the files of a skill as a zip", a.skillBundleContent).
		with(gateway.Param{Name: "version", In: "query", Doc: "The version; that which is used unless said otherwise.", Schema: text()})
	download.Media = mediaZip
	own := []row{
		read(all, "listSkillBundles", tag, reads, "SkillBundle", "List the skills that are installed, newest first", a.listSkillBundles).
			list("workspace_id").with(gateway.Param{Name: "category", In: "query", Schema: enum(valuesOf[abi.SkillCategory]()...)}),
		install,
		read(one, "getSkillBundle", tag, reads, "SkillBundle", "Get a skill that is installed", a.getSkillBundle),
		patch(one, "updateSkillBundle", tag, writes, "UpdateSkillBundleRequest", "SkillBundle", "Change what a skill is called",
			change(a, "skill_bundle_id", statusOK, a.core.UpdateSkillBundle)),
		write(fasthttp.MethodDelete, one, "uninstallSkillBundle", tag, writes, "", "", "Uninstall a skill", statusNoContent, a.uninstallSkillBundle).bodyless().
			doc("It is refused while an agent of the Workspace names the skill. Tasks that have begun keep it."),
		read(one+"/versions", "listSkillBundleVersions", tag, reads, "SkillBundleVersions", "List the versions of a skill, newest first", a.listSkillBundleVersions),
		upgrade,
		post(one+"/rollback", "rollbackSkillBundle", tag, writes, "RollbackSkillBundleRequest", "SkillBundleChange", "Use a version of a skill again", statusOK,
			a.rollbackSkillBundle).doc("Tasks that have begun keep theirs."),
		download,
	}
	for i := range own {
		own[i].Unversioned = true
	}
	return routes(own...)
}

// installParams describe what is installed.
func installParams() []gateway.Param {
	return []gateway.Param{
		{Name: "workspace_id", In: "query", Doc: "The Workspace whose Tasks may have it. Needed for uploads.", Schema: text()},
		{Name: "display_title", In: "query", Doc: "What people call it; its name unless said otherwise.", Schema: text()},
		{Name: "category", In: "query", Doc: "Where it comes from; user unless said otherwise.", Schema: enum(valuesOf[abi.SkillCategory]()...)},
		{Name: "changelog", In: "query", Doc: "What is new in this version.", Schema: text()},
	}
}

// sentZip reads the zip of a skill: what a JSON body has as its content, or the body itself. req
// is what a JSON body says besides; described fills it in otherwise.
func sentZip[T any](r *gateway.Request, req *T, content func(*T) *[]byte, described func(*T)) (*api.SkillFiles, *api.Write, error) {
	retry, err := r.Retry(nil) // the engine judges by what is asked for and the files' digest
	if err != nil {
		return nil, nil, err
	}
	if media, _, _ := strings.Cut(r.Header("Content-Type"), ";"); media == "" || strings.TrimSpace(media) == gateway.MediaJSON {
		if _, err := r.Decode(req); err != nil {
			return nil, nil, err
		}
		zip := *content(req)
		if *content(req) = nil; len(zip) == 0 {
			return nil, nil, abi.InvalidParam("content", "content needs the zip of a skill, in base64")
		}
		files, err := api.SkillZip(bytes.NewReader(zip), int64(len(zip)))
		return files, retry, err
	}
	f, err := r.Spooled()
	if err != nil {
		return nil, nil, err
	}
	described(req)
	files, err := api.SkillZip(f, f.Size)
	return files, retry, err
}

func (a *Adapter) installSkillBundle(r *gateway.Request) error {
	var req abi.InstallSkillBundleRequest
	files, retry, err := sentZip(r, &req, func(req *abi.InstallSkillBundleRequest) *[]byte { return &req.Content }, func(req *abi.InstallSkillBundleRequest) {
		*req = abi.InstallSkillBundleRequest{WorkspaceID: r.Query("workspace_id"), DisplayTitle: r.Query("display_title"),
			Category: abi.SkillCategory(r.Query("category")), Changelog: r.Query("changelog")}
	})
	if err != nil {
		return a.hideFrom(r, req.WorkspaceID, err)
	}
	doc, err := a.core.InstallSkillBundle(r.Context(), r.Caller, retry, req, files)
	if err != nil {
		return err
	}
	return a.send(r, statusCreated, doc)
}

// hideFrom keeps an error about a request from whoever may not see the Workspace that it names.
func (a *Adapter) hideFrom(r *gateway.Request, workspace string, err error) error {
	if workspace == "" {
		return err
	}
	_, hidden := a.core.Get(r.Context(), r.Caller, abi.ObjectWorkspace, workspace)
	return cmp.Or(hidden, err)
}

// skillBundleChange is a skill of which another version is used.
type skillBundleChange struct {
	abi.SkillBundle `json:",inline"`
	PreviousVersion string `json:"previous_version"`
}

func (a *Adapter) upgradeSkillBundle(r *gateway.Request) error {
	id := r.PathValue("skill_bundle_id")
	// Whoever may not see the skill learns nothing of what a request should be.
	if _, err := a.core.SkillBundle(r.Context(), r.Caller, id); err != nil {
		return err
	}
	var req abi.UpgradeSkillBundleRequest
	files, retry, err := sentZip(r, &req, func(req *abi.UpgradeSkillBundleRequest) *[]byte { return &req.Content },
		func(req *abi.UpgradeSkillBundleRequest) { req.Changelog = r.Query("changelog") })
	if err != nil {
		return err
	}
	doc, previous, err := a.core.UpgradeSkillBundle(r.Context(), r.Caller, retry, id, req, files)
	return a.sendSkillChange(r, doc, previous, err)
}

func (a *Adapter) rollbackSkillBundle(r *gateway.Request) error {
	var req abi.RollbackSkillBundleRequest
	retry, err := decode(r, &req)
	if err != nil {
		return err
	}
	doc, previous, err := a.core.RollbackSkillBundle(r.Context(), r.Caller, retry, r.PathValue("skill_bundle_id"), req)
	return a.sendSkillChange(r, doc, previous, err)
}

func (a *Adapter) sendSkillChange(r *gateway.Request, doc api.View, previous string, err error) error {
	if err != nil {
		return err
	}
	doc.JSON = api.WithText(doc.JSON, "previous_version", previous)
	return a.send(r, statusOK, doc)
}

func (a *Adapter) listSkillBundles(r *gateway.Request) error {
	f := api.SkillFilter{WorkspaceID: queryFilter(r).WorkspaceID, Category: abi.SkillCategory(r.Query("category"))}
	return a.sendPage(r, func(p api.Page) (api.List, error) { return a.core.SkillBundles(r.Context(), r.Caller, f, p) })
}

func (a *Adapter) getSkillBundle(r *gateway.Request) error {
	doc, err := a.core.SkillBundle(r.Context(), r.Caller, r.PathValue("skill_bundle_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func (a *Adapter) uninstallSkillBundle(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.UninstallSkillBundle(r.Context(), r.Caller, retry, r.PathValue("skill_bundle_id")); err != nil {
		return err
	}
	r.Send(statusNoContent, nil)
	return nil
}

func (a *Adapter) listSkillBundleVersions(r *gateway.Request) error {
	versions, err := a.core.SkillBundleVersions(r.Context(), r.Caller, r.PathValue("skill_bundle_id"))
	if err != nil {
		return err
	}
	return sendValue(r, statusOK, versions)
}

func (a *Adapter) skillBundleContent(r *gateway.Request) error {
	name, version, zip, err := a.core.OpenSkillBundle(r.Context(), r.Caller, r.PathValue("skill_bundle_id"), r.Query("version"))
	if err != nil {
		return err
	}
	r.HTTP.SetContentType(mediaZip)
	r.SetHeader("Content-Disposition", disposition(name+".zip"))
	r.SetHeader("X-Content-Type-Options", "nosniff")
	r.SetHeader("ETag", `"`+version.Archive+`"`)
	r.HTTP.SetBodyStream(&download{Reader: zip, content: zip, conn: r.HTTP.Conn(), patience: a.cfg.WriteTimeout, report: r.Reporter()}, int(zip.Size()))
	return nil
}

func skillBundleSchemas() map[string]schema {
	about := map[string]string{"vendor": "metadata.vendor of its SKILL.md, else metadata.author.", "digest": "Of its files: docs/skills-bundles.md says how it is computed.", "archive": "The hash of the zip with them."}
	return map[string]schema{
		"SkillBundle": resourceOf[abi.SkillBundle](abi.ObjectSkillBundle, "A skill that is installed in a Workspace, as files. It is no Skill, which is a Persona that can be called.",
			says(about), hidden("deleted_at", "versions")),
		"SkillBundleChange":          resourceOf[skillBundleChange](abi.ObjectSkillBundle, "A skill of which another version is used.", says(about), hidden("deleted_at", "versions")),
		"TaskSkill":                  of[abi.TaskSkill]("A skill that a Task has, as it was when the Task started."),
		"SkillBundleVersion":         of[abi.SkillBundleVersion]("A version of a skill.", says(about)),
		"SkillBundleVersions":        of[abi.SkillBundleVersions]("The versions of a skill that are kept."),
		"InstallSkillBundleRequest":  requestOf[abi.InstallSkillBundleRequest]("A skill to install."),
		"UpgradeSkillBundleRequest":  requestOf[abi.UpgradeSkillBundleRequest]("Another version of a skill."),
		"UpdateSkillBundleRequest":   requestOf[abi.UpdateSkillBundleRequest]("What to change of a skill."),
		"RollbackSkillBundleRequest": requestOf[abi.RollbackSkillBundleRequest]("The version to use."),
	}
}
