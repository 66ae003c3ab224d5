package sdk

import (
	"fmt"
	"slices"
	"strings"
)

// AssemblyScript returns the generated sources of the package, by their names in its folder assembly.
func AssemblyScript(api *API) map[string][]byte {
	return map[string][]byte{"types.ts": asTypes(api), "calls.ts": asCalls(api), "host.ts": asImports(api), "exports.ts": asExports(api)}
}

const asHead = "// Generated from package abi by go generate ./abi. Do not edit.\n\n"

// asDoc writes a comment. What is empty is left out.
func asDoc(l *lines, indent, text string) { l.jsDoc(indent, wrap(cDoc(text), 100-len(indent))) }

// camel is the name of a call as a function.
func camel(call string) string {
	var name strings.Builder
	for i, word := range strings.FieldsFunc(call, func(c rune) bool { return c == '.' || c == '_' }) {
		if i > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		name.WriteString(word)
	}
	return name.String()
}

// pascal is the same behind a word.
func pascal(word, call string) string {
	name := camel(call)
	return word + strings.ToUpper(name[:1]) + name[1:]
}

func asImports(api *API) []byte {
	var l lines
	l.WriteString(asHead)
	l.f("// The imports of the host's module. The compiler leaves out those that are not used.")
	for _, c := range api.Calls {
		l.f("\n@external(\"wharf\", %q)\nexport declare function %s(request: usize, length: usize): u64;", c.Name, pascal("host", c.Name))
	}
	return []byte(l.String())
}

func asTypes(api *API) []byte {
	var l lines
	l.WriteString(asHead)
	l.f("// The requests and answers of %s. Members have the names that they have in JSON. Make a request of", api.Version)
	l.f("// what it needs: { url: \"https://...\" }. What is left out is nothing.\n")
	l.f("import { Withheld } from \"./call\";\nimport { Json, Reader, Some, Writer } from \"./json\";")
	for _, e := range api.Enums {
		l.f("")
		asDoc(&l, "", or(e.Doc, e.Name+" is one of the words below, or one that a newer host knows."))
		l.f("export namespace %s {", e.Name)
		for _, v := range e.Values {
			asDoc(&l, "  ", sentence(v.Doc))
			l.f("  export const %s: string = %q;", constant(v.Text), v.Text)
		}
		l.f("}")
	}
	for _, s := range api.Structs {
		asStruct(&l, s)
	}
	return []byte(l.String())
}

// asExports exports every type by its name, but for the Task that the host tells of: Task is what a plugin
// is given.
func asExports(api *API) []byte {
	var l lines
	l.WriteString(asHead)
	var names []string
	for _, e := range api.Enums {
		names = append(names, e.Name)
	}
	for _, s := range api.Structs {
		if s.Name == "Task" {
			names = append(names, "Task as AcceptedTask")
		} else {
			names = append(names, s.Name)
		}
	}
	asNames(&l, "export", names)
	return []byte(l.String())
}

// asNames imports or exports types by their names.
func asNames(l *lines, verb string, names []string) {
	l.f("%s {", verb)
	for _, line := range wrap(strings.Join(names, ", ")+",", 98) {
		l.f("  %s", line)
	}
	l.f("} from \"./types\";")
}

// asNullable reports whether a member is null for nothing.
func asNullable(f *Field) bool {
	return f.Pointer || f.Boxed || f.Optional && (f.Type.Kind == Object || f.Type.Kind == JSON)
}

func asType(t Type) string {
	switch t.Kind {
	case JSON:
		return "Json"
	case Bytes:
		return "Uint8Array"
	case Bool:
		return "bool"
	case Integer:
		return "i64"
	case Natural:
		return "u64"
	case Number:
		return "f64"
	case Object:
		return t.Struct.Name
	case List:
		return asType(*t.Elem) + "[]"
	case Map:
		return "Map<string, " + asType(*t.Elem) + ">"
	}
	return "string"
}

// asMember is a member's type and what it is at first.
func asMember(f *Field) string {
	t := asType(f.Type)
	switch {
	case asNullable(f) && isScalar(f.Type):
		return "Some<" + t + "> | null = null"
	case asNullable(f):
		return t + " | null = null"
	}
	return t + " = " + map[Kind]string{Text: `""`, Time: `""`, JSON: "Json.NULL", Bytes: "new Uint8Array(0)", Bool: "false", Integer: "0",
		Natural: "0", Number: "0", Object: "new " + t + "()", List: "[]", Map: "new " + t + "()"}[f.Type.Kind]
}

func isScalar(t Type) bool {
	return t.Kind == Bool || t.Kind == Integer || t.Kind == Natural || t.Kind == Number
}

func asStruct(l *lines, s *Struct) {
	l.f("")
	asDoc(l, "", or(s.Doc, "See its members."))
	l.f("export class %s {", s.Name)
	for _, f := range s.Fields {
		doc := sentence(f.Doc)
		if e := f.Type.Enum; e != nil {
			doc = strings.TrimSpace(doc + " See " + e.Name + ".")
		}
		asDoc(l, "  ", doc)
		l.f("  %s: %s;", f.Name, asMember(f))
	}
	if s.Withheld {
		asDoc(l, "  ", "Whether the Persona's tier has held the call back: then the rest is empty.")
		l.f("  withheld: Withheld = Withheld.NO;")
	}
	asWrite(l, s)
	asRead(l, s)
	l.f("}")
}

// asPut is the statement that writes a value.
func asPut(t Type, v string) string {
	if t.Kind == Object {
		return v + ".write(w);"
	}
	return fmt.Sprintf("w.%s(%s);", asVerb(t), v)
}

// asVerb is the method of readers and writers for a type.
func asVerb(t Type) string {
	switch t.Kind {
	case Bytes:
		return "base64"
	case List:
		return map[Kind]string{Text: "texts", JSON: "jsons", Object: "list<" + asType(*t.Elem) + ">"}[t.Elem.Kind]
	case Map:
		return map[Kind]string{Text: "textMap", JSON: "jsonMap", Number: "numberMap"}[t.Elem.Kind]
	}
	return scalar(t.Kind)
}

// asPresent is the condition under which a member is written, "" for always.
func asPresent(f *Field) string {
	v := "this." + f.Name
	if !f.Optional {
		return ""
	}
	switch f.Type.Kind {
	case Bool:
		return v
	case Integer, Natural, Number:
		return v + " != 0"
	case Map:
		return v + ".size"
	case Object, JSON:
		return ""
	}
	return v + ".length"
}

func asWrite(l *lines, s *Struct) {
	l.f("\n  write(w: Writer): void {\n    w.object();")
	for _, f := range s.Fields {
		v, name := "this."+f.Name, fmt.Sprintf("w.name(%q);", f.Name)
		switch present := asPresent(f); {
		case asNullable(f):
			held, otherwise := f.Name+"_", ""
			value := held
			if isScalar(f.Type) {
				value += ".value"
			}
			if !f.Optional {
				otherwise = fmt.Sprintf(" else { %s w.null(); }", name)
			}
			l.f("    const %s = %s;\n    if (%s !== null) { %s %s }%s", held, v, held, name, asPut(f.Type, value), otherwise)
		case present != "":
			l.f("    if (%s) { %s %s }", present, name, asPut(f.Type, v))
		default:
			l.f("    %s %s", name, asPut(f.Type, v))
		}
	}
	l.f("    w.endObject();\n  }")
}

// asGet is the expression that reads a member.
func asGet(f *Field) string {
	t := asType(f.Type)
	switch {
	case f.Type.Kind == Object && asNullable(f):
		return "r.intoOrNull<" + t + ">()"
	case f.Type.Kind == Object:
		return "r.into<" + t + ">()"
	case !asNullable(f) || f.Type.Kind == JSON:
		return "r." + asVerb(f.Type) + "()"
	case isScalar(f.Type):
		return fmt.Sprintf("r.takeNull() ? null : new Some<%s>(r.%s())", t, asVerb(f.Type))
	}
	return "r." + asVerb(f.Type) + "OrNull()"
}

func asRead(l *lines, s *Struct) {
	l.f("\n  read(r: Reader): void {\n    if (r.takeNull()) return;\n    for (r.object(); r.member(); ) {")
	otherwise := ""
	for _, f := range s.Fields {
		l.f("      %sif (r.name == %q) this.%s = %s;", otherwise, f.Name, f.Name, asGet(f))
		otherwise = "else "
	}
	l.f("      %sr.skip();\n    }\n  }", otherwise)
}

func asCalls(api *API) []byte {
	var l lines
	l.WriteString(asHead)
	l.f("// Two functions for each host call of %s. The first answers, or ends the Task with what the host says;", api.Version)
	l.f("// the second begins with \"try\" and returns how the call has failed.\n")
	l.f("import { answered, answeredOrWithheld, CallError, content, endWith, Result, told, written } from \"./call\";")
	l.f("import * as host from \"./host\";")
	var types []string
	for _, s := range asUsed(api) {
		types = append(types, s.Name)
	}
	asNames(&l, "import", types)
	for _, c := range api.Calls {
		asCall(&l, c)
	}
	return []byte(l.String())
}

// asUsed are the requests and answers of calls, each once.
func asUsed(api *API) (used []*Struct) {
	seen := map[*Struct]bool{nil: true}
	for _, c := range api.Calls {
		for _, s := range []*Struct{c.Request, c.Answer} {
			if !seen[s] {
				used = append(used, s)
			}
			seen[s] = true
		}
	}
	return used
}

func asCall(l *lines, c Call) {
	doc := c.Doc
	if c.Limit != "" {
		doc += " Limit: " + c.Limit + "."
	}
	if c.Key != "" {
		doc += " A replay can give another answer under the key `" + c.Key + "`."
	}
	var parameters, given []string
	bytes := "0, 0"
	var before []string
	if c.Request != nil {
		parameters, given = append(parameters, "request: "+c.Request.Name), append(given, "request")
		before, bytes = append(before, "const w = written(request);"), "w.start, w.length"
	}
	switch c.Form {
	case FormRandom:
		parameters, given = append(parameters, "count: u32"), append(given, "count")
		before, bytes = append(before, "const little = new ArrayBuffer(4);", "store<u32>(changetype<usize>(little), count);"), "changetype<usize>(little), 4"
	case FormContent:
		parameters, given = append(parameters, "content: Uint8Array"), append(given, "content")
		before = append(before, "w.line(content);")
	}
	name, try := camel(c.Name), pascal("try", c.Name)
	how, answer := "answered<"+asAnswer(c)+">", "Result<"+asAnswer(c)+">"
	switch {
	case c.Answer == nil && c.Form == FormJSON:
		how, answer = "told", "CallError | null"
	case c.Answer == nil:
		how = "content"
	case c.MayBeWithheld:
		how = "answeredOrWithheld<" + c.Answer.Name + ">"
	}
	l.f("")
	l.jsDoc("", slices.Concat(wrap(cDoc(doc), 100), []string{""}, c.example(InAssemblyScript, "@example", "")))
	if how == "told" {
		l.f("export function %s(%s): void {\n  const error = %s(%s);\n  if (error) endWith(error);\n}", name, strings.Join(parameters, ", "), try, strings.Join(given, ", "))
	} else {
		l.f("export function %s(%s): %s { return %s(%s).value; }", name, strings.Join(parameters, ", "), asAnswer(c), try, strings.Join(given, ", "))
	}
	l.f("\n/** The same; it returns how it has failed. */\nexport function %s(%s): %s {", try, strings.Join(parameters, ", "), answer)
	for _, line := range before {
		l.f("  %s", line)
	}
	l.f("  return %s(%q, host.%s(%s));\n}", how, c.Name, pascal("host", c.Name), bytes)
}

// asAnswer is the type of what a call answers.
func asAnswer(c Call) string {
	if c.Answer == nil {
		return "Uint8Array"
	}
	return c.Answer.Name
}
