package waiting

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/skill"
)

// The bounds of what a client says of itself.
const (
	maxClientText   = 256 // bytes of a name or version
	maxCapabilities = 32
	maxCapability   = 64 // bytes
)

// CheckClient refuses what a client cannot mean to say of itself.
func CheckClient(c *abi.TaskClient) error {
	if c == nil {
		return nil
	}
	for _, m := range []struct{ name, value string }{{"protocol", c.Protocol}, {"name", c.Name}, {"version", c.Version}} {
		if len(m.value) > maxClientText || !plain(m.value) {
			return abi.InvalidParam("client."+m.name, "client.%s has at most %d bytes, and no control characters", m.name, maxClientText)
		}
	}
	if len(c.Capabilities) > maxCapabilities || slices.ContainsFunc(c.Capabilities, isNoCapability) {
		return abi.InvalidParam("client.capabilities", "client.capabilities are at most %d words of 1 to %d bytes, without commas and white space", maxCapabilities, maxCapability)
	}
	return nil
}

func isNoCapability(word string) bool {
	return word == "" || len(word) > maxCapability || !plain(word) || strings.ContainsFunc(word, unicode.IsSpace) || strings.Contains(word, ",")
}

func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// unprompted is what people are shown of a question that has no prompt.
var unprompted = map[abi.PermissionKind]string{
	abi.PermissionSampling: "Have a model of yours say what follows the messages in params",
	abi.PermissionRoots:    "Name the folders that may be worked in",
}

// answerShape returns the JSON Schema that the answer to a question has to fit; nil where anything
// does.
func answerShape(kind abi.PermissionKind, own jsontext.Value) jsontext.Value {
	switch kind {
	case abi.PermissionSampling:
		return jsontext.Value(samplingResult)
	case abi.PermissionRoots:
		return jsontext.Value(rootsResult)
	}
	return own.Clone()
}

// checkSampling holds what a model is asked against the shape that MCP gives it.
func checkSampling(params jsontext.Value) error {
	if params == nil {
		return desk.CheckPresent("params", "")
	}
	schema, err := skill.Compile([]byte(samplingParams))
	if err != nil {
		return fmt.Errorf("compiling the shape of samplings: %w", err)
	}
	if err := schema.Check(context.Background(), nil, params); err != nil {
		return abi.InvalidParam("params", "params are not those of a sampling/createMessage: %v", err)
	}
	return nil
}

// The shapes of what MCP's clients are asked and answer, of its revision 2025-11-25. Members that are
// not named are let pass: a later revision may have more.
const (
	samplingParams = `{"type":"object","required":["messages","maxTokens"],"properties":{
"messages":{"type":"array","minItems":1,"items":{"type":"object","required":["role","content"],"properties":{"role":{"enum":["user","assistant"]},"content":` + saidContent + `}}},
"maxTokens":{"type":"integer","minimum":1},"systemPrompt":{"type":"string"},"temperature":{"type":"number"},
"stopSequences":{"type":"array","items":{"type":"string"}},"includeContext":{"enum":["none","thisServer","allServers"]},"metadata":{"type":"object"},
"modelPreferences":{"type":"object","properties":{"hints":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}},
"costPriority":` + priority + `,"speedPriority":` + priority + `,"intelligencePriority":` + priority + `}},
"tools":{"type":"array","items":{"type":"object","required":["name","inputSchema"],"properties":{"name":{"type":"string","minLength":1},"inputSchema":{"type":"object"}}}},
"toolChoice":{"type":"object","properties":{"mode":{"enum":["auto","required","none"]}}}},` + saidBlock + `}`

	samplingResult = `{"type":"object","required":["role","content","model"],"properties":{"role":{"enum":["user","assistant"]},"model":{"type":"string"},
"stopReason":{"type":"string"},"content":` + saidContent + `},` + saidBlock + `}`

	rootsResult = `{"type":"object","required":["roots"],"properties":{"roots":{"type":"array","maxItems":1000,"items":{"type":"object","required":["uri"],"properties":{
"uri":{"type":"string","pattern":"^[A-Za-z][A-Za-z0-9+.-]*:"},"name":{"type":"string"}}}}}}`

	priority = `{"type":"number","minimum":0,"maximum":1}`

	// saidContent is one block, or a list of them.
	saidContent = `{"if":{"type":"array"},"then":{"items":{"$ref":"#/$defs/block"}},"else":{"$ref":"#/$defs/block"}}`

	saidBlock = `"$defs":{"block":{"type":"object","required":["type"],"properties":{"type":{"enum":["text","image","audio","tool_use","tool_result"]}},"allOf":[
{"if":{"properties":{"type":{"const":"text"}}},"then":{"required":["text"],"properties":{"text":{"type":"string"}}}},
{"if":{"properties":{"type":{"enum":["image","audio"]}}},"then":{"required":["data","mimeType"],"properties":{"data":{"type":"string"},"mimeType":{"type":"string"}}}},
{"if":{"properties":{"type":{"const":"tool_use"}}},"then":{"required":["id","name","input"],"properties":{"id":{"type":"string"},"name":{"type":"string"},"input":{"type":"object"}}}},
{"if":{"properties":{"type":{"const":"tool_result"}}},"then":{"required":["toolUseId","content"],"properties":{"toolUseId":{"type":"string"},"content":{"type":"array"}}}}]}}`
)
