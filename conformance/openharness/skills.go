package openharness

import (
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func skillChecks() []Check {
	return []Check{
		{ID: "register.bundle", Title: "A skill is made of the files of a bundle", Operation: "skills.register", run: func(p *probe) {
			a := p.newSkill()
			p.equal("skill.name", a.get("skill.name"), p.name)
			p.text(a, "skill.version")
		}},
		{ID: "register.archive", Title: "A skill is made of an archive", Operation: "skills.register", run: func(p *probe) {
			a := p.ok(p.post("skills", content{"application/zip", skillFiles(p.name, "1.0.0").zipped()}))
			p.later("skills/" + p.text(a, "skill.id"))
			p.equal("skill.name", a.get("skill.name"), p.name)
		}},
		{ID: "register.manifest", Title: "A bundle without SKILL.md is refused", Operation: "skills.register", run: func(p *probe) {
			p.invalid(p.post("skills", skillForm(p.name, files{p.name + "/README.md": "nothing"})))
		}},
		{ID: "register.folder", Title: "A skill that is named otherwise than its folder is refused", Operation: "skills.register", run: func(p *probe) {
			p.invalid(p.post("skills", skillForm(p.name, files{p.name + "-2/SKILL.md": skillText(p.name, "1.0.0")})))
		}},
		{ID: "register.files", Title: "A file of a kind that skills do not have is refused", Operation: "skills.register", run: func(p *probe) {
			bundle := skillFiles(p.name, "1.0.0")
			bundle[p.name+"/tool.exe"] = "MZ"
			p.invalid(p.post("skills", skillForm(p.name, bundle)))
		}},
		{ID: "get.same", Title: "A skill is shown as it was made", Operation: "skills.get", run: func(p *probe) {
			a := p.newSkill()
			again := p.want(p.get("skills/"+p.text(a, "skill.id")), 200)
			for _, member := range []string{"skill.id", "skill.name", "skill.version", "skill.description", "skill.category"} {
				p.equal(member, again.get(member), a.get(member))
			}
		}},
		{ID: "get.unknown", Title: "A skill that is not there is 404", Operation: "skills.get", run: func(p *probe) { p.missing(p.get("skills/" + p.name)) }},
		{ID: "list.has", Title: "A skill is listed", Operation: "skills.list", run: func(p *probe) {
			p.lists("skills", "data", p.text(p.newSkill(), "skill.id"), true)
		}},
		{ID: "list.category", Title: "Skills are narrowed by category", Operation: "skills.list", run: func(p *probe) {
			id := p.text(p.newSkill(), "skill.id")
			p.lists("skills?category=user", "data", id, true)
			p.lists("skills?category=builtin", "data", id, false)
		}},
		{ID: "update.category", Title: "A skill is put into another category", Operation: "skills.update", run: func(p *probe) {
			at := "skills/" + p.text(p.newSkill(), "skill.id")
			p.ok(p.patch(at, object{"category": "organization"}))
			p.equal("skill.category", p.want(p.get(at), 200).get("skill.category"), "organization")
		}},
		{ID: "update.unknown", Title: "A skill that is not there cannot be changed", Operation: "skills.update", run: func(p *probe) {
			p.missing(p.patch("skills/"+p.name, object{"category": "user"}))
		}},
		{ID: "versions.current", Title: "The versions of a skill are listed with the current one", Operation: "skills.listVersions", run: func(p *probe) {
			a := p.newSkill()
			b := p.want(p.get("skills/"+p.text(a, "skill.id")+"/versions"), 200)
			p.equal("current_version", b.get("current_version"), a.get("skill.version"))
			if !hasVersion(p.list(b, "versions"), a.get("skill.version")) {
				p.fail("%s does not list the current version", b.to)
			}
		}},
		{ID: "upgrade.version", Title: "An upgrade becomes the current version", Operation: "skills.upgrade", run: func(p *probe) {
			a, at := p.upgraded()
			p.equal("previous_version", a.get("previous_version"), "1.0.0")
			p.equal("skill.version", p.want(p.get(at), 200).get("skill.version"), "2.0.0")
			if n := len(p.list(p.want(p.get(at+"/versions"), 200), "versions")); n != 2 {
				p.fail("after an upgrade there are %d versions, want 2", n)
			}
		}},
		{ID: "upgrade.increases", Title: "A version that is not above the current one is refused", Operation: "skills.upgrade", run: func(p *probe) {
			at := "skills/" + p.text(p.newSkill(), "skill.id")
			p.want(p.post(at+"/upgrade", form(skillFiles(p.name, "0.9.0").parts("files")...)), 400, 409, 422)
		}},
		{ID: "upgrade.name", Title: "A skill is not upgraded to one of another name", Operation: "skills.upgrade", run: func(p *probe) {
			at := "skills/" + p.text(p.newSkill(), "skill.id")
			p.want(p.post(at+"/upgrade", form(skillFiles(p.name+"-2", "2.0.0").parts("files")...)), 400, 409, 422)
		}},
		{ID: "rollback.version", Title: "A skill is put back to a version that it had", Operation: "skills.rollback", run: func(p *probe) {
			_, at := p.upgraded()
			a := p.ok(p.post(at+"/rollback", object{"version": "1.0.0"}))
			p.equal("previous_version", a.get("previous_version"), "2.0.0")
			p.equal("skill.version", p.want(p.get(at), 200).get("skill.version"), "1.0.0")
		}},
		{ID: "rollback.unknown", Title: "A skill is not put back to a version that it never had", Operation: "skills.rollback", run: func(p *probe) {
			at := "skills/" + p.text(p.newSkill(), "skill.id")
			p.want(p.post(at+"/rollback", object{"version": "9.9.9"}), 400, 404, 409, 422)
		}},
		{ID: "discover.list", Title: "Skills that could be registered are found", Operation: "skills.discover", run: func(p *probe) {
			p.list(p.ok(p.post("skills/discover", object{})), "discovered")
		}},
		{ID: "validate.valid", Title: "A bundle that is right is valid", Operation: "skills.validate", run: func(p *probe) {
			a := p.ok(p.post("skills/validate", form(skillFiles(p.name, "1.0.0").parts("files")...)))
			p.equal("valid", a.get("valid"), true)
			p.equal("errors", len(p.list(a, "errors")), 0)
			p.missing(p.get("skills/" + p.name))
		}},
		{ID: "validate.invalid", Title: "What is wrong with a bundle is said, with file and code", Operation: "skills.validate", run: func(p *probe) {
			wrong := files{p.name + "/SKILL.md": "---\nname: Not A Name!\n---\n"}
			a := p.ok(p.post("skills/validate", form(wrong.parts("files")...)))
			p.equal("valid", a.get("valid"), false)
			if len(p.list(a, "errors")) == 0 {
				p.fail("%s says that it is not valid, and not why", a.to)
			}
			p.text(a, "errors.0.file")
			p.text(a, "errors.0.code")
		}},
		{ID: "download.bundle", Title: "A skill is downloaded as an archive with SKILL.md", Operation: "skills.download", run: func(p *probe) {
			a := p.want(p.get("skills/"+p.text(p.newSkill(), "skill.id")+"/download"), 200)
			bundle := p.archive(a)
			if text, ok := bundle.named("SKILL.md"); !ok || !strings.Contains(text, p.name) {
				p.fail("%s: there is no SKILL.md of the skill in the archive", a.to)
			}
			if text, _ := bundle.named("notes.md"); text != skillNotes {
				p.fail("%s: a file of the bundle is not as it was sent", a.to)
			}
		}},
		{ID: "download.version", Title: "An older version of a skill is downloaded", Operation: "skills.download", run: func(p *probe) {
			_, at := p.upgraded()
			a := p.want(p.get(at+"/download?version=1.0.0"), 200)
			if text, _ := p.archive(a).named("SKILL.md"); !strings.Contains(text, "1.0.0") {
				p.fail("%s answered with another version", a.to)
			}
		}},
		{ID: "uninstall.gone", Title: "A skill that was removed is there no more", Operation: "skills.uninstall", run: func(p *probe) {
			id := p.text(p.newSkill(), "skill.id")
			p.gone("skills/" + id)
			p.lists("skills", "data", id, false)
		}},
	}
}

// skillNotes is a file that skills of checks have.
const skillNotes = "Notes of a check.\n"

func skillText(name, version string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: Made by a check.\nmetadata:\n  version: %q\n---\n\n# Instructions\n\nDo nothing.\n", name, version)
}

func skillFiles(name, version string) files {
	return files{name + "/SKILL.md": skillText(name, version), name + "/notes.md": skillNotes}
}

func skillForm(name string, bundle files) content {
	about := part{name: "metadata", media: "application/json", content: []byte(answers.Show(object{"display_title": name, "category": "user"}))}
	return form(append([]part{about}, bundle.parts("files")...)...)
}

// newSkill makes a skill, which is removed with the check.
func (p *probe) newSkill() answer {
	a := p.ok(p.post("skills", skillForm(p.name, skillFiles(p.name, "1.0.0"))))
	p.later("skills/" + p.text(a, "skill.id"))
	return a
}

// upgraded makes a skill of two versions.
func (p *probe) upgraded() (a answer, at string) {
	at = "skills/" + p.text(p.newSkill(), "skill.id")
	return p.ok(p.post(at+"/upgrade", form(append([]part{field("changelog", "More of it.")}, skillFiles(p.name, "2.0.0").parts("files")...)...))), at
}

func hasVersion(versions []any, wanted any) bool {
	for _, one := range versions {
		if doc, ok := one.(object); ok && doc["version"] == wanted {
			return true
		}
	}
	return false
}
