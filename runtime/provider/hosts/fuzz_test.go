package hosts

import (
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// Whatever a client answers, what is taken of it is in bounds, can be told on, and has no name twice.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{`[]`, `{"tools":[{"name":"a","short_description":"b","parameters":{}}]}`, `{"result":{"tools":[{"name":"a","deprecated":true}]}}`, `{"result":{"result":[]}}`,
		`{"matches":[{"name":"a","score":0.5,"reason":"r"},{"name":"b"}]}`, `{"skills":[{"id":"a","manifest":{"paths":["x"]}}]}`, `{"name":"a","body":"b","when_to_use":"w","allowed_tools":["x"]}`,
		`{"shells":[{"id":"zsh","path":"/bin/zsh"}],"default_shell_id":null}`, `{"program":"x","args":["-c","y"],"command_arg_index":1,"shell":{"id":"x"}}`, `{"result":{"capabilities":{"process":{"ops":{"exec":{}}}}}}`, `{"process":["exec"]}`, `{"tools":null}`, `null`, `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		answer := jsontext.Value(text)
		if !answer.IsValid() || abi.TooDeep(text, abi.MaxDepth) >= 0 {
			return // no peer passes it on
		}
		tools, _, err := readTools(answer)
		if len(tools) > maxTools || err != nil && tools != nil {
			t.Errorf("%d tools, %v", len(tools), err)
		}
		names := map[string]bool{}
		for i := range tools {
			told := tools[i].tool(tool.Hints{})
			if tool.CheckName(told.Name) != nil || names[told.Name] || told.ReadOnly || told.InputSchema != nil && told.InputSchema.Kind() != '{' {
				t.Errorf("%+v", told)
			}
			names[told.Name] = true
		}
		if operations, err := readOperations(answer, "process"); len(operations) > maxOperations || err != nil && operations != nil {
			t.Errorf("%d operations, %v", len(operations), err)
		}
		candidates := []abi.SkillCandidate{{Name: "a"}, {Name: "b"}}
		matches, err := readMatches(answer, candidates)
		if len(matches) > len(candidates) || err != nil && matches != nil {
			t.Errorf("%+v, %v", matches, err)
		}
		for _, m := range matches {
			if m.Score < 0 || m.Reason == "" || m.Name != "a" && m.Name != "b" {
				t.Errorf("%+v", m)
			}
		}
		skills, _, err := readSkills(answer)
		if len(skills) > maxSkills || err != nil && skills != nil {
			t.Errorf("%d skills, %v", len(skills), err)
		}
		for i := range skills {
			if checkSkillName(skills[i].Name) != nil || skills[i].ID == "" {
				t.Errorf("%+v", skills[i])
			}
		}
		_, _ = readSkill(answer)
		for _, read := range []func(jsontext.Value) (any, error){readShells, readShell, readInvocation, readAnything} {
			if v, err := read(answer); err == nil {
				if _, err := json.Marshal(v); err != nil {
					t.Errorf("what was read of %s cannot be told: %v", text, err)
				}
			}
		}
	})
}
