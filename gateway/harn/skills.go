package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

func (a *Adapter) skillRoutes() []gateway.Route {
	const tag, reads, writes = "Skills", "skills:read", "skills:write"
	make := post("/wharf/v1/skills", "createSkill", tag, writes, "CreateSkillRequest", "Skill", "Offer a Persona as a Skill", statusCreated,
		create(a, statusCreated, a.core.CreateSkill)).
		doc("A Task names its Skill in `metadata.skill_id`. Its input is held against `input_schema` before it is accepted, and what it gives out " +
			"against `output_schema` before it is completed: the last `json` part that it has said, or its summary.")
	change := patch("/wharf/v1/skills/{skill_id}", "updateSkill", tag, writes, "UpdateSkillRequest", "Skill", "Change a Skill",
		change(a, "skill_id", statusOK, a.core.UpdateSkill)).doc("Skills that come with the node cannot be changed.")
	make.Unversioned, change.Unversioned = true, true
	return routes(
		read("/v1/skills", "listSkills", tag, reads, "Skill", "List Skills, newest first", a.list(abi.ObjectSkill)).paged(descending, "workspace_id").
			doc(ofWorkspace),
		read("/v1/skills/{skill_id}", "getSkill", tag, reads, "Skill", "Get a Skill", a.get(abi.ObjectSkill, "skill_id")),
		make, change,
	)
}

func skillSchemas() map[string]schema {
	return map[string]schema{
		"Skill": resourceOf[abi.Skill](abi.ObjectSkill, "A callable capability.",
			null("input_schema", "output_schema", "source", "version"), maybe("requires_approval", "deprecated"),
			says(map[string]string{"workspace_id": "That of its Persona, which alone sees and uses it; none: the whole tenant."})),
		"CreateSkillRequest": requestOf[abi.CreateSkillRequest]("A Skill.", null("input_schema", "output_schema")),
		"UpdateSkillRequest": requestOf[abi.UpdateSkillRequest]("What to change.", null("input_schema", "output_schema")),
	}
}
