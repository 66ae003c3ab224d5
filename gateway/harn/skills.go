package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// skillCore is what the Skills' routes ask of the engine.
type skillCore interface{}

func (a *Adapter) skillRoutes() []gateway.Route {
	return routes(
		a.none("/v1/skills", "listSkills", "Skills", "skills:read", "Skill", "List Skills"),
		read("/v1/skills/{skill_id}", "getSkill", "Skills", "skills:read", "Skill", "Get a Skill", absent(abi.ObjectSkill, string(abi.ObjectSkill)+"_id")),
	)
}

func skillSchemas() map[string]schema {
	return map[string]schema{
		"Skill": resource(abi.ObjectSkill, "A callable capability.", schema{
			"name": text(), "description": text(), "input_schema": nullable(anyObject()), "output_schema": nullable(anyObject()),
		}, schema{
			"source": nullable(text()), "version": nullable(text()), "capabilities": listOf(text()),
			"requires_approval": flag(), "deprecated": flag(),
		}),
	}
}
