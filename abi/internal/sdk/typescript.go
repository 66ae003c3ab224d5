package sdk

import (
	"fmt"
	"strings"
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
	for line := range strings.Lines(parts[scriptModule]) {
		if strings.TrimSpace(line) != "" {
			l.WriteString("\t")
		}
		l.WriteString(line)
	}
	for _, c := range api.Calls {
		scriptCall(&l, c)
	}
	for _, s := range api.Structs {
		scriptStruct(&l, s)
	}
	for _, e := range api.Enums {
		scriptEnum(&l, e)
	}
	l.f("}")
	return []byte(l.String())
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
	scriptDocOf(l, "\t", c.example(InTypeScript, "@example", ""), "The host call `"+c.Name+"`. "+sentence(c.Doc), limit, key)
	l.f("\texport function %s(%s): Promise<%s>;", scriptFunction(c.Name), strings.Join(parameters, ", "), scriptAnswer(c))
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
	scriptDoc(l, "\t", s.Doc)
	l.f("\texport interface %s {", scriptName(s))
	for _, f := range s.Fields {
		scriptDoc(l, "\t\t", sentence(f.Doc))
		mark := ""
		if f.Optional {
			mark = "?"
		}
		t := scriptType(f.Type, s.Requested)
		if f.Pointer && !f.Optional {
			t += " | null"
		}
		l.f("\t\t%s%s: %s;", f.Name, mark, t)
	}
	l.f("\t}")
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
	scriptDoc(l, "\t", append([]string{doc}, remarks...)...)
	var words []string
	for _, v := range e.Values {
		words = append(words, fmt.Sprintf("%q", v.Text))
	}
	if !e.Requested {
		words = append(words, "(string & {})")
	}
	l.f("\texport type %s = %s;", e.Name, strings.Join(words, " | "))
}
