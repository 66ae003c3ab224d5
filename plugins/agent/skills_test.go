package main

import (
	"encoding/json"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// The model is told of the skills of the Task alone, and is offered the tool that reads them only
// when there are any.
func TestSkillsInThePrompt(t *testing.T) {
	skillRead := wharf.Tool{Server: "host", Name: "skill_read", ReadOnly: true, InputSchema: json.RawMessage(`{}`)}
	other := wharf.Tool{Server: "mine", Name: "skill_read", InputSchema: json.RawMessage(`{}`)}
	pdf := wharf.Skill{Name: "pdf", Description: "Reads\n  PDFs.", Version: "1.0.0"}
	for name, c := range map[string]struct {
		skills []wharf.Skill
		tools  []wharf.Tool
		told   bool
		offers string
	}{
		"none":           {nil, []wharf.Tool{skillRead, other}, false, "mine__skill_read"},
		"one":            {[]wharf.Skill{pdf}, []wharf.Tool{skillRead, other}, true, "host__skill_read mine__skill_read"},
		"not to be read": {[]wharf.Skill{pdf}, []wharf.Tool{other}, false, "mine__skill_read"},
	} {
		t.Run(name, func(t *testing.T) {
			h, model := office(says("done"))
			h.Skills, h.Tools = c.skills, c.tools
			if outcome := h.Text(handle, "go"); outcome.Failure != nil {
				t.Fatal(outcome.Failure)
			}
			asked := model.asked[0]
			var offers []string
			for _, tool := range asked.Tools {
				offers = append(offers, tool.Name)
			}
			if got := strings.Join(offers, " "); got != c.offers {
				t.Errorf("it is offered %s, want %s", got, c.offers)
			}
			if told := strings.Contains(asked.System, "with the tool host__skill_read") && strings.HasSuffix(asked.System, "\n\n- pdf: Reads PDFs."); told != c.told {
				t.Errorf("it is told %q", asked.System)
			}
			if !strings.HasPrefix(asked.System, defaultPrompt) {
				t.Errorf("its instructions do not come first: %q", asked.System)
			}
		})
	}
}
