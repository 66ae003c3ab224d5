package show

import (
	"fmt"
	"path"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy"
)

// recordedCall is what an event tells of a host call. Request and Answer are null
// when this key may not see them.
type recordedCall struct {
	Call    string         `json:"call"`
	Index   int            `json:"index"`
	Phase   string         `json:"phase"`
	Status  abi.CallStatus `json:"status"`
	Request jsontext.Value `json:"request"`
	Answer  jsontext.Value `json:"answer"`
	Tool    *abi.ToolUse   `json:"tool"`
}

// callDetail describes the host call that an event's payload tells, "" if none.
func callDetail(payload jsontext.Value) string {
	var c recordedCall
	if json.Unmarshal(payload, &c) != nil || c.Call == "" {
		return ""
	}
	detail := fmt.Sprintf("call %d, %s", c.Index, c.Call)
	if about := c.about(); about != "" {
		detail += ": " + about
	}
	begins := c.Phase == "intent" || c.Tool != nil && c.Tool.DurationUs == 0
	switch {
	case begins:
		detail += " …"
	case c.Status != abi.CallOK:
		detail += " (" + c.failure() + ")"
	case c.Tool != nil && c.Tool.ErrorCategory != "":
		detail += " (" + string(c.Tool.ErrorCategory) + ")"
	}
	if c.Tool != nil && !begins {
		detail += ", " + (time.Duration(c.Tool.DurationUs) * time.Microsecond).Round(10*time.Microsecond).String()
	}
	return detail
}

// withheld returns what became of a write that the autonomy tier of its Persona has not let be done; "" for any
// other event. It has failed for the plugin alone, as it was meant to.
func withheld(e *abi.Event) string {
	var c recordedCall
	if e.Event != abi.EventSpanFailed && e.Event != abi.EventToolFailed && e.Event != abi.EventCall {
		return ""
	}
	var why abi.CallError
	if json.Unmarshal(e.Payload, &c) != nil || c.Status != abi.CallDenied || json.Unmarshal(c.Answer, &why) != nil {
		return ""
	}
	switch why.Code {
	case policy.CodeProposed:
		return "proposed"
	case policy.CodeShadow:
		return "left_out"
	}
	return ""
}

// about says in a few words what was asked and answered.
func (c *recordedCall) about() string {
	switch c.Call {
	case abi.CallLLMComplete:
		return c.model()
	case abi.CallToolCall:
		if c.Tool != nil {
			return c.Tool.Server + "." + c.Tool.Name
		}
		var tool struct {
			Server string `json:"server"`
			Name   string `json:"name"`
		}
		if json.Unmarshal(c.Request, &tool) == nil && tool.Name != "" {
			return tool.Server + "." + tool.Name
		}
	case abi.CallResourceList, abi.CallResourceRead, abi.CallPromptGet:
		return c.served()
	case abi.CallHTTPFetch:
		return c.fetch()
	case abi.CallFileRead, abi.CallFileWrite, abi.CallFileEdit, abi.CallFileRemove, abi.CallFileList, abi.CallFileSearch:
		var file struct {
			Path string `json:"path"`
		}
		if json.Unmarshal(c.Request, &file) == nil {
			return file.Path
		}
	case abi.CallAgentDelegate:
		var to struct {
			Agent string `json:"agent"`
		}
		if json.Unmarshal(c.Request, &to) == nil {
			return to.Agent
		}
	case abi.CallBlockWrite:
		var block struct {
			Label string `json:"label"`
		}
		if json.Unmarshal(c.Request, &block) == nil {
			return block.Label
		}
	case abi.CallSkillRead:
		var file struct {
			Skill string `json:"skill"`
			Path  string `json:"path"`
		}
		if json.Unmarshal(c.Request, &file) == nil {
			return path.Join(file.Skill, file.Path)
		}
	case abi.CallSecretUse, abi.CallHostFact, abi.CallConfigGet:
		var named struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(c.Request, &named) == nil {
			return named.Name
		}
	}
	return ""
}

func (c *recordedCall) model() string {
	var answer abi.ModelAnswer
	if c.Status != abi.CallOK || json.Unmarshal(c.Answer, &answer) != nil || answer.Model == "" {
		return ""
	}
	said := fmt.Sprintf("%s, %d+%d tokens", answer.Model, answer.Usage.InputTokens, answer.Usage.OutputTokens)
	for _, tool := range answer.ToolCalls {
		said += ", wants " + tool.Name
	}
	if answer.Text != "" {
		said += ": " + answer.Text
	}
	return said
}

// served names what was asked of a server of tools.
func (c *recordedCall) served() string {
	var asked struct {
		Server string `json:"server"`
		Kind   string `json:"kind"`
		URI    string `json:"uri"`
		Name   string `json:"name"`
	}
	if json.Unmarshal(c.Request, &asked) != nil {
		return ""
	}
	return asked.Server + " " + firstText(asked.URI, asked.Name, asked.Kind, string(abi.KindResource))
}

func (c *recordedCall) fetch() string {
	var asked abi.CallHTTPFetchRequest
	if json.Unmarshal(c.Request, &asked) != nil {
		return ""
	}
	about := firstText(asked.Method, "GET") + " " + asked.URL
	var got abi.CallHTTPFetchAnswer
	if c.Status == abi.CallOK && json.Unmarshal(c.Answer, &got) == nil && got.Status != 0 {
		about += fmt.Sprintf(" → %d", got.Status)
	}
	return about
}

func (c *recordedCall) failure() string {
	var answer abi.CallError
	if json.Unmarshal(c.Answer, &answer) != nil || answer.Code == "" {
		return fmt.Sprintf("status %d", c.Status)
	}
	return answer.Code + ": " + answer.Message
}
