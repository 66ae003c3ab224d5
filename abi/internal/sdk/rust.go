package sdk

import (
	"fmt"
	"slices"
	"strings"
)

// Rust returns the generated sources of the crate, by their names in its folder src.
func Rust(api *API) map[string][]byte {
	return map[string][]byte{"types.rs": rustTypes(api), "calls.rs": rustCalls(api), "sys.rs": rustImports(api)}
}

const rustHead = "// Generated from package abi by go generate ./abi. Do not edit.\n\n"

// rustKeywords are words that no member can have as its name.
var rustKeywords = []string{"type", "move", "ref", "use", "in", "for", "loop", "match", "self", "where", "as", "async", "await", "final", "override"}

type lines struct{ strings.Builder }

func (l *lines) f(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

// doc writes a comment, each line after the given mark.
func (l *lines) doc(mark, text string) {
	for _, line := range wrap(text, 100-len(mark)) {
		l.f("%s%s", mark, line)
	}
}

// wrap breaks a text at spaces.
func wrap(text string, width int) []string {
	var all []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			all, line = append(all, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line == "" {
		return all
	}
	return append(all, line)
}

// sentence makes a remark a sentence of its own.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// rustDoc keeps rustdoc from reading brackets as links, and what is no HTML as HTML.
func rustDoc(text string) string {
	return strings.NewReplacer("[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`).Replace(text)
}

func rustTypes(api *API) []byte {
	var l lines
	l.WriteString(rustHead)
	l.f("//! The types of requests and answers of %s. Members that may be left out are nothing by", api.Version)
	l.f("//! default: make a request of what it needs and `..Default::default()`.\n")
	l.f("use crate::wire::*;\nuse serde::{Deserialize, Serialize};\nuse std::collections::BTreeMap;")
	for _, e := range api.Enums {
		rustEnum(&l, e)
	}
	for _, s := range api.Structs {
		rustStruct(&l, s)
	}
	return []byte(l.String())
}

func rustEnum(l *lines, e *Enum) {
	l.f("\nwords! {")
	l.doc("    /// ", rustDoc(or(e.Doc, e.Name+" is one of the words below, or one that a newer host knows.")))
	l.f("    %s {", e.Name)
	for _, v := range e.Values {
		if v.Doc != "" {
			l.doc("        /// ", rustDoc(sentence(v.Doc)))
		}
		l.f("        %s = %q,", constant(v.Text), v.Text)
	}
	l.f("    }\n}")
}

// constant is a value as the name of a constant.
func constant(value string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, value)
	return strings.ToUpper(name)
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func rustStruct(l *lines, s *Struct) {
	l.f("")
	l.doc("/// ", rustDoc(or(s.Doc, "See its members.")))
	l.f("#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]\n#[serde(default)]")
	l.f("pub struct %s {", s.Name)
	for _, f := range s.Fields {
		rustField(l, f)
	}
	if s.Withheld {
		l.doc("    /// ", "Whether the Persona's tier has held the call back: then the rest is empty.")
		l.f("    #[serde(skip)]\n    pub withheld: Option<crate::Withheld>,")
	}
	l.f("}")
}

func rustField(l *lines, f *Field) {
	l.doc("    /// ", or(rustDoc(sentence(f.Doc)), "The member `"+f.Name+"`."))
	name := rustName(f.Name)
	var options []string
	if strings.TrimPrefix(name, "r#") != f.Name {
		options = append(options, fmt.Sprintf("rename = %q", f.Name))
	}
	t, nothing := rustType(f.Type), f.Pointer || f.Optional && (f.Type.Kind == Object || f.Type.Kind == JSON)
	if f.Boxed {
		t = "Box<" + t + ">"
	}
	if with := rustNumbers(f.Type, nothing); with != "" {
		options = append(options, fmt.Sprintf("serialize_with = %q", with))
	}
	if nothing {
		t = "Option<" + t + ">"
	}
	if f.Optional {
		options = append(options, `skip_serializing_if = "nothing"`)
	}
	if len(options) > 0 {
		l.f("    #[serde(%s)]", strings.Join(options, ", "))
	}
	l.f("    pub %s: %s,", name, t)
}

// rustNumbers is what writes numbers as every SDK does.
func rustNumbers(t Type, nothing bool) string {
	switch {
	case t.Kind == Number && nothing:
		return "some_number"
	case t.Kind == Number:
		return "number"
	case t.Kind == Map && t.Elem.Kind == Number:
		return "numbers"
	}
	return ""
}

func rustName(member string) string {
	member = strings.TrimPrefix(member, "_")
	if slices.Contains(rustKeywords, member) {
		return "r#" + member
	}
	return member
}

func rustType(t Type) string {
	switch t.Kind {
	case Text:
		if t.Enum != nil {
			return t.Enum.Name
		}
		return "String"
	case JSON:
		return "Json"
	case Time:
		return "Time"
	case Bytes:
		return "Bytes"
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
		return "Vec<" + rustType(*t.Elem) + ">"
	}
	return "BTreeMap<String, " + rustType(*t.Elem) + ">"
}

// function is the name of a call as a function.
func function(call string) string { return strings.ReplaceAll(call, ".", "_") }

func rustImports(api *API) []byte {
	var l lines
	l.WriteString(rustHead)
	l.f("//! The imports of the host's module. The linker leaves out those that are not used.\n\nuse crate::call::imports;\n\nimports! {")
	for _, c := range api.Calls {
		l.f("    %s = %q,", function(c.Name), c.Name)
	}
	l.f("}")
	return []byte(l.String())
}

func rustCalls(api *API) []byte {
	var l lines
	l.WriteString(rustHead)
	l.f("//! A function for each host call of %s, with its request as the host takes it.", api.Version)
	l.f("//!\n//! The examples are a plugin, which the project's tests compile and run on a node.\n")
	l.f("use crate::call::*;\nuse crate::error::Result;\nuse crate::sys;\nuse crate::types::*;")
	for _, c := range api.Calls {
		rustCall(&l, c)
	}
	return []byte(l.String())
}

func rustCall(l *lines, c Call) {
	l.f("")
	l.doc("/// ", rustDoc(c.Doc))
	if c.Limit != "" {
		l.f("///")
		l.doc("/// ", "Limit: "+rustDoc(c.Limit)+".")
	}
	if c.Key != "" {
		l.f("///")
		l.doc("/// ", "A replay can give another answer under the key `"+c.Key+"`.")
	}
	l.f("///")
	for _, line := range c.example(InRust, "/// ```ignore", "/// ") {
		l.f("%s", line)
	}
	l.f("/// ```")
	name := function(c.Name)
	switch {
	case c.Form == FormRandom:
		l.f("pub fn %s(bytes: u32) -> Result<Vec<u8>> {\n    raw(%q, sys::%s, &bytes.to_le_bytes())\n}", name, c.Name, name)
	case c.Form == FormContent:
		l.f("pub fn %s(request: &%s, content: &[u8]) -> Result<%s> {\n    with_content(%q, sys::%s, request, content)\n}", name, c.Request.Name, c.Answer.Name, c.Name, name)
	case c.Form == FormBytes:
		l.f("pub fn %s(request: &%s) -> Result<Vec<u8>> {\n    bytes(%q, sys::%s, request)\n}", name, c.Request.Name, c.Name, name)
	case c.Request == nil:
		l.f("pub fn %s() -> Result<%s> {\n    given(%q, sys::%s)\n}", name, c.Answer.Name, c.Name, name)
	case c.Answer == nil:
		l.f("pub fn %s(request: &%s) -> Result<()> {\n    tell(%q, sys::%s, request)\n}", name, c.Request.Name, c.Name, name)
	case c.MayBeWithheld:
		l.f("pub fn %s(request: &%s) -> Result<%s> {", name, c.Request.Name, c.Answer.Name)
		l.f("    match ask(%q, sys::%s, request) {", c.Name, name)
		l.f("        Err(e) => e.withheld().map(|w| %s { withheld: Some(w), ..Default::default() }).ok_or(e),", c.Answer.Name)
		l.f("        done => done,\n    }\n}")
	default:
		l.f("pub fn %s(request: &%s) -> Result<%s> {\n    ask(%q, sys::%s, request)\n}", name, c.Request.Name, c.Answer.Name, c.Name, name)
	}
}
