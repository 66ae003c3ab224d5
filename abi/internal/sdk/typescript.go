package sdk

import (
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// The parts of the declarations that are written by hand: what stands everywhere, and what the
// module has besides what is generated.
const (
	scriptGlobals = "typescript/parts/globals.d.ts"
	scriptModule  = "typescript/parts/module.d.ts"
)

// TypeScript is wharf.d.ts: what the module "wharf" has, and what programs find without an import.
func TypeScript(api *API, parts map[string]string) []byte {
	var l lines
	l.f("// Generated from package abi by go generate ./abi. Do not edit.")
	l.f("// What plugins for Wharf in TypeScript and JavaScript have: %s.\n", api.Version)
	l.WriteString(parts[scriptGlobals])
	l.f("\ndeclare module \"wharf\" {")
	for line := range strings.Lines(scriptModuleText(api, parts)) {
		if strings.TrimSpace(line) != "" {
			l.WriteString("\t")
		}
		l.WriteString(line)
	}
	l.f("}")
	return []byte(l.String())
}

// ScriptModule declares the module alone, for tests that run in Node and have globals of its own.
func ScriptModule(api *API, parts map[string]string) []byte {
	head := "// Generated from package abi by go generate ./abi. Do not edit.\n// What the module wharf has, for tests that run in Node. Plugins have wharf.d.ts.\n\n"
	return []byte(head + scriptModuleText(api, parts))
}

// ScriptCalls are the host calls, for the host of tests: which are answered, and with what for example.
func ScriptCalls(api *API) []byte {
	var l lines
	l.f("// Generated from package abi by go generate ./abi. Do not edit.\n")
	l.f("// calls has the name of each host call, with an answer for example; hints are those that nobody answers.")
	l.f("export const calls = {")
	for _, c := range api.Calls {
		l.f("\t%q: '%s',", c.Name, or(exampleIn(`new TextEncoder().encode("...")`, c), "undefined"))
	}
	l.f("};\n\nexport const hints = new Set([%s]);\n", hintNames(api))
	l.f("// forms are those of what requests are made of, and requests the form of each call's request.")
	writeForms(&l, api, "export const forms =", "export const requests =")
	return []byte(l.String())
}

// ScriptCallTypes declares what tests answer: for each host call that is answered, its request and its answer.
func ScriptCallTypes(api *API) []byte {
	var l lines
	l.f("// Generated from package abi by go generate ./abi. Do not edit.\nimport type * as wharf from \"./index.js\";\n")
	l.f("/** The host calls that a test can answer, each with its request and its answer. */\nexport interface HostCalls {")
	for _, c := range api.Calls {
		if !c.Hint && c.Name != abi.CallInput && c.Name != abi.CallOutput {
			l.f("\t%q: { request: %s; answer: %s };", c.Name, scriptAsked(c), scriptGiven(c))
		}
	}
	l.f("}")
	return []byte(l.String())
}

// scriptAsked is the type of a request as it reaches the host.
func scriptAsked(c Call) string {
	switch {
	case c.Form == FormRandom:
		return "number"
	case c.Request == nil:
		return "undefined"
	case c.Optional:
		return "wharf." + scriptName(c.Request) + " | undefined"
	}
	return "wharf." + scriptName(c.Request)
}

// scriptGiven is the type of an answer as the host gives it.
func scriptGiven(c Call) string {
	switch {
	case c.Form == FormRandom, c.Form == FormBytes:
		return "Uint8Array"
	case c.Answer == nil:
		return "undefined"
	}
	return "wharf." + scriptName(c.Answer)
}

// exampleIn is the example of a call's answer in a language, which writes bytes as it is given.
func exampleIn(bytes string, c Call) string {
	if c.Form == FormBytes || c.Form == FormRandom {
		return bytes
	}
	return c.SampleAnswer
}

func hintNames(api *API) string {
	var names []string
	for _, c := range api.Calls {
		if c.Hint {
			names = append(names, fmt.Sprintf("%q", c.Name))
		}
	}
	return strings.Join(names, ", ")
}

// scriptModuleText is what is declared of the module.
func scriptModuleText(api *API, parts map[string]string) string {
	var l lines
	l.WriteString(parts[scriptModule])
	for _, c := range api.Calls {
		scriptCall(&l, c)
	}
	for _, s := range api.Structs {
		scriptStruct(&l, s)
	}
	for _, e := range api.Enums {
		scriptEnum(&l, e)
	}
	return l.String()
}

// scriptDoc writes a comment of one or more paragraphs.
func scriptDoc(l *lines, indent string, paragraphs ...string) {
	scriptDocOf(l, indent, nil, paragraphs...)
}

// scriptDocOf writes a comment with an example below.
func scriptDocOf(l *lines, indent string, example []string, paragraphs ...string) {
	var all []string
	for _, p := range paragraphs {
		if p == "" {
			continue
		}
		if len(all) > 0 {
			all = append(all, "")
		}
		all = append(all, wrap(cDoc(p), 116)...)
	}
	if len(example) > 0 {
		all = append(append(all, ""), example...)
	}
	l.jsDoc(indent, all)
}

// jsDoc writes the lines of a comment of JavaScript, and nothing where there are none.
func (l *lines) jsDoc(indent string, all []string) {
	switch len(all) {
	case 0:
	case 1:
		l.f("%s/** %s */", indent, all[0])
	default:
		l.f("%s/**", indent)
		for _, line := range all {
			l.f("%s", strings.TrimRight(indent+" * "+line, " "))
		}
		l.f("%s */", indent)
	}
}

// scriptFunction is what a call is named in JavaScript: message.append is messageAppend.
func scriptFunction(call string) string {
	words := strings.FieldsFunc(call, func(r rune) bool { return r == '.' || r == '_' })
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

func scriptCall(l *lines, c Call) {
	var parameters []string
	switch {
	case c.Form == FormRandom:
		parameters = []string{"count: number"}
	case c.Request != nil && c.Optional:
		parameters = []string{"request?: " + scriptName(c.Request)}
	case c.Request != nil:
		parameters = []string{"request: " + scriptName(c.Request)}
	}
	if c.Form == FormContent {
		parameters = append(parameters, "content: string | ArrayBuffer | ArrayBufferView")
	}
	limit, key := "", ""
	if c.Limit != "" {
		limit = "Limit: " + c.Limit + "."
	}
	if c.Key != "" {
		key = "A replay can give another answer under the key `" + c.Key + "`."
	}
	l.f("")
	scriptDocOf(l, "", c.example(InTypeScript, "@example", ""), "The host call `"+c.Name+"`. "+sentence(c.Doc), limit, key)
	l.f("export function %s(%s): Promise<%s>;", scriptFunction(c.Name), strings.Join(parameters, ", "), scriptAnswer(c))
}

// scriptAnswer is the type of what a call promises.
func scriptAnswer(c Call) string {
	switch {
	case c.Form == FormRandom, c.Form == FormBytes:
		return "Uint8Array"
	case c.Answer == nil && c.MayBeWithheld:
		return "Withheld | undefined"
	case c.Answer == nil:
		return "undefined"
	case c.MayBeWithheld:
		return scriptName(c.Answer) + " & Withheld"
	}
	return scriptName(c.Answer)
}

// scriptName is what a struct is called: two have the names of what is written by hand.
func scriptName(s *Struct) string {
	switch s.Name {
	case "Task":
		return "TaskDescription"
	case "Failure":
		return "FailureDescription"
	}
	return s.Name
}

func scriptStruct(l *lines, s *Struct) {
	l.f("")
	scriptDoc(l, "", s.Doc)
	l.f("export interface %s {", scriptName(s))
	for _, f := range s.Fields {
		scriptDoc(l, "\t", sentence(f.Doc))
		mark := ""
		if f.Optional {
			mark = "?"
		}
		t := scriptType(f.Type, s.Requested)
		if f.Pointer && !f.Optional {
			t += " | null"
		}
		l.f("\t%s%s: %s;", f.Name, mark, t)
	}
	l.f("}")
}

// scriptType is the type of a member of what is sent, or of what is answered alone.
func scriptType(t Type, sent bool) string {
	switch t.Kind {
	case Text:
		if t.Enum != nil {
			return t.Enum.Name
		}
		return "string"
	case JSON:
		return "Json"
	case Time:
		return "Time"
	case Bytes:
		if sent {
			return "Bytes"
		}
		return "Base64"
	case Bool:
		return "boolean"
	case Object:
		return scriptName(t.Struct)
	case List:
		return scriptType(*t.Elem, sent) + "[]"
	case Map:
		return "Record<string, " + scriptType(*t.Elem, sent) + ">"
	}
	return "number"
}

// scriptEnum writes the words that a text is one of. A newer host may answer others; what is sent
// has to be one of these, so that a misspelled one is an error in the editor.
func scriptEnum(l *lines, e *Enum) {
	var remarks []string
	for _, v := range e.Values {
		if v.Doc != "" {
			remarks = append(remarks, "`"+v.Text+"`: "+v.Doc)
		}
	}
	l.f("")
	doc := e.Doc
	if len(remarks) > 0 {
		remarks = []string{sentence(strings.Join(remarks, "; "))}
	}
	scriptDoc(l, "", append([]string{doc}, remarks...)...)
	var words []string
	for _, v := range e.Values {
		words = append(words, fmt.Sprintf("%q", v.Text))
	}
	if !e.Requested {
		words = append(words, "(string & {})")
	}
	l.f("export type %s = %s;", e.Name, strings.Join(words, " | "))
}
