package harn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

func TestSkills(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	if got := n.do(t, "GET", "/v1/skills", nil).ids(); !slices.Contains(got, "skill_echo") {
		t.Errorf("the node's own skills are not among %v", got)
	}
	made := n.do(t, "POST", "/wharf/v1/skills", object{"persona_id": "persona_echo", "name": "shout", "description": "Says it.",
		"input_schema":  object{"type": "object", "properties": object{"n": object{"type": "integer"}}, "required": []string{"n"}},
		"output_schema": object{"type": "string"}}).want(201)
	submit := func(input any, more object) *answer {
		body := object{"input": input, "metadata": object{"skill_id": made.id()}}
		for name, value := range more {
			body[name] = value
		}
		return n.do(t, "POST", "/v1/sessions/"+session+"/tasks", body, header("Prefer", "wait=20"))
	}
	if a := submit(object{"n": 1}, nil).want(200); a.get("status") != "COMPLETED" || a.get("persona_id") != "persona_echo" {
		t.Errorf("%s", a.body)
	}
	if err := submit(object{"n": "one"}, nil).wantError(400, abi.CodeInvalidRequest); err.Param != "input" || !strings.Contains(err.Message, "/n") {
		t.Errorf("%+v", err)
	}
	submit(message("one"), nil).wantError(400, abi.CodeInvalidRequest)
	submit(object{"n": 1}, object{"persona_id": "persona_keep"}).wantError(400, abi.CodeInvalidRequest)
	submit(object{"n": 1}, object{"metadata": object{"skill_id": "skill_none"}}).wantError(404, abi.CodeResourceNotFound)

	if a := n.do(t, "PATCH", "/wharf/v1/skills/"+made.id(), object{"deprecated": true, "output_schema": object{"type": "integer"}}).want(200); a.get("deprecated") != true || a.get("name") != "shout" {
		t.Errorf("%s", a.body)
	}
	if a := submit(object{"n": 1}, nil).want(200); a.get("status") != "FAILED" || a.get("failure", "code") != abi.FailureSkillOutput {
		t.Errorf("what the schema does not allow ends with %s", a.body)
	}
	n.do(t, "PATCH", "/wharf/v1/skills/skill_echo", object{"deprecated": true}).wantError(403, abi.CodePermissionDenied)
}

func TestSkillIsRefused(t *testing.T) {
	n := newNode(t)
	stranger := n.newKey(t, "another tenant", "*")
	valid := object{"persona_id": "persona_echo", "name": "s", "description": "d"}
	for param, more := range map[string]object{
		"persona_id": {"persona_id": ""}, "name": {"name": strings.Repeat("n", 200)}, "description": {"description": ""},
		"input_schema": {"input_schema": object{"type": "nonsense"}}, "output_schema": {"output_schema": object{"$ref": "http://127.0.0.1/x"}},
	} {
		body := object{}
		for _, o := range []object{valid, more} {
			for name, value := range o {
				body[name] = value
			}
		}
		if err := n.do(t, "POST", "/wharf/v1/skills", body).wantError(400, abi.CodeInvalidRequest); err.Param != param {
			t.Errorf("%v: param %q, want %q", more, err.Param, param)
		}
	}
	id := n.do(t, "POST", "/wharf/v1/skills", valid, header("Idempotency-Key", "one")).want(201).id()
	if again := n.do(t, "POST", "/wharf/v1/skills", valid, header("Idempotency-Key", "one")).id(); again != id {
		t.Errorf("a retry made %s beside %s", again, id)
	}
	n.do(t, "GET", "/v1/skills/"+id, nil, key(stranger)).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "PATCH", "/wharf/v1/skills/"+id, object{"deprecated": true}, key(stranger)).wantError(404, abi.CodeResourceNotFound)
}
