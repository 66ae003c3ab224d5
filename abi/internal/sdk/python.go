package sdk

import (
	"slices"
	"strings"
	"unicode"
)

// pythonKeywords are words that no member can have as the name of an argument.
var pythonKeywords = strings.Fields("False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")

const pythonHead = `# Generated from package abi by go generate ./abi. Do not edit.
"""What a plugin in Python imports as wharf, for editors: the module itself is in the engine."""

from typing import Any, Literal, NotRequired, TypedDict

class Task:
    """The Task that runs, as it was accepted: see the members of task in the answer of the host call input."""

    id: str
    input: Any
    persona: _Persona
    skills: list[_InputSkill]
    session_id: str
    def __init__(self, answer: _InputAnswer) -> None: ...
    @property
    def text(self) -> str:
        """What the input says: itself a text, its member text, or the text parts of a Message, joined by empty lines; else ""."""
    @property
    def value(self) -> Any:
        """The input as JSON: of a Message, the value of its first JSON part."""
    def __getattr__(self, name: str) -> Any: ...

class WharfError(Exception):
    """The host has refused a call, or could not do it."""

    call: str
    status: str
    code: str
    message: str

    def __init__(self, call: str, status: str, code: str, message: str) -> None: ...

class Denied(WharfError):
    """Policy forbids the call."""

class NotFound(WharfError):
    """What the call names does not exist, or not for this Task."""

class Unavailable(WharfError):
    """The host could not do it now."""

class TimedOut(WharfError):
    """Nobody answered, or nothing happened, in time."""

class Failure(Exception):
    """Fails the Task with a code of the plugin's own when it is raised."""

    code: str
    message: str
    details: dict[str, Any] | None
    def __init__(self, code: str, message: str = "", details: dict[str, Any] | None = None) -> None: ...

class Response:
    """The answer to a request over HTTP."""

    status: int
    """0 when the Persona's tier has held the request back."""
    ok: bool
    url: str | None
    headers: dict[str, str]
    def __init__(self, answer: _HTTPFetchAnswer) -> None: ...
    @property
    def content(self) -> bytes: ...
    @property
    def text(self) -> str: ...
    def json(self) -> Any: ...

def reply(content: str | list[_Part]) -> _MessageAppendAnswer:
    """Appends a Message of the assistant: a text, or parts."""

def fetch(url: str, method: str | None = None, headers: dict[str, str] | None = None, body: str | bytes | None = None,
          json: Any = None, **more: Any) -> Response:
    """Makes an HTTP request. The rest are members of the host call http.fetch: call_id, purpose, idempotency_header,
    timeout_ms."""
`

// Python returns the stub that tells editors of the module that is in the engine. Names of types have a _ in
// front, for the module does not have them.
func Python(api *API) []byte {
	var l lines
	l.WriteString(pythonHead)
	for _, e := range api.Enums {
		pythonEnum(&l, e)
	}
	for _, s := range api.Structs {
		pythonStruct(&l, s)
	}
	for _, c := range api.Calls {
		pythonCall(&l, c)
	}
	return []byte(l.String())
}

// PythonCalls are the host calls, for the host of tests: which are answered, and with what for example.
func PythonCalls(api *API) []byte {
	var l lines
	l.f("# Generated from package abi by go generate ./abi. Do not edit.\n")
	l.f("# CALLS has the name of each host call, with an answer for example; HINTS are those that nobody answers.")
	l.f("CALLS = {")
	for _, c := range api.Calls {
		l.f("    %q: '%s',", c.Name, or(pythonLiteral(exampleIn(`b"..."`, c)), "None"))
	}
	l.f("}\n\nHINTS = frozenset({%s})\n", hintNames(api))
	l.f("# FORMS are those of what requests are made of, and REQUESTS the form of each call's request.")
	writeForms(&l, api, "FORMS =", "REQUESTS =")
	return []byte(l.String())
}

// pythonLiteral writes JSON without words as Python has it.
func pythonLiteral(text string) string {
	return strings.NewReplacer(":null", ":None", ":true", ":True", ":false", ":False").Replace(text)
}

func pythonEnum(l *lines, e *Enum) {
	var values []string
	for _, v := range e.Values {
		values = append(values, `"`+v.Text+`"`)
	}
	l.f("\n_%s = Literal[%s] | str", e.Name, strings.Join(values, ", "))
}

// pythonStruct writes a dictionary with types. Members that are no names need the form that is called.
func pythonStruct(l *lines, s *Struct) {
	named := func(f *Field) bool { return isPythonName(f.Name) && !strings.HasPrefix(f.Name, "__") }
	if slices.ContainsFunc(s.Fields, func(f *Field) bool { return !named(f) }) {
		l.f("\n_%s = TypedDict(\"_%s\", {", s.Name, s.Name)
		for _, f := range s.Fields {
			l.f("    %q: %q,", f.Name, pythonMember(f))
		}
		l.f("})")
		return
	}
	l.f("\nclass _%s(TypedDict):", s.Name)
	pythonDoc(l, or(s.Doc, "See its members."), "")
	for _, f := range s.Fields {
		l.f("    %s: %s", f.Name, pythonMember(f))
		if f.Doc != "" {
			pythonDoc(l, sentence(f.Doc), "")
		}
	}
	if s.Withheld {
		l.f("    withheld: NotRequired[str]")
		pythonDoc(l, `"proposed" or "shadow" when the Persona's tier has held the call back: then the rest is not there.`, "")
	}
}

func isPythonName(name string) bool {
	plain := func(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }
	return name != "" && !slices.Contains(pythonKeywords, name) && strings.IndexFunc(name, func(c rune) bool { return !plain(c) }) < 0
}

func pythonDoc(l *lines, text, more string) { pythonDocOf(l, text+more, nil) }

// pythonDocOf writes a docstring with an example below.
func pythonDocOf(l *lines, text string, example []string) {
	inDoc := strings.NewReplacer(`\`, `\\`, `"""`, `'''`)
	text = inDoc.Replace(text)
	if strings.HasSuffix(text, `"`) && len(example) == 0 {
		text += " "
	}
	all := wrap(text, 108)
	all[0] = `"""` + all[0]
	for _, line := range example {
		all = append(all, inDoc.Replace(line))
	}
	if len(example) > 0 {
		all = append(all, "")
	}
	all[len(all)-1] += `"""`
	for _, line := range all {
		l.f("%s", strings.TrimRight("    "+line, " "))
	}
}

func pythonMember(f *Field) string {
	t := pythonType(f.Type)
	if f.Pointer && !f.Optional {
		t += " | None"
	}
	if f.Optional {
		t = "NotRequired[" + t + "]"
	}
	return t
}

func pythonType(t Type) string {
	switch t.Kind {
	case Text:
		if t.Enum != nil {
			return "_" + t.Enum.Name
		}
		return "str"
	case JSON:
		return "Any"
	case Time, Bytes:
		return "str"
	case Bool:
		return "bool"
	case Integer, Natural:
		return "int"
	case Number:
		return "float"
	case Object:
		return "_" + t.Struct.Name
	case List:
		return "list[" + pythonType(*t.Elem) + "]"
	}
	return "dict[str, " + pythonType(*t.Elem) + "]"
}

func pythonCall(l *lines, c Call) {
	l.f("\ndef %s(%s) -> %s:", function(c.Name), pythonArguments(c), pythonAnswer(c))
	more := ""
	if c.Limit != "" {
		more += " Limit: " + c.Limit + "."
	}
	if c.Key != "" {
		more += " A replay can give another answer under the key " + c.Key + "."
	}
	example := c.example(InPython, "Example::", "    ")
	if len(example) > 0 {
		example = slices.Concat([]string{"", example[0], ""}, example[1:])
	}
	pythonDocOf(l, c.Doc+more, example)
}

func pythonArguments(c Call) string {
	switch {
	case c.Form == FormRandom:
		return "n: int"
	case c.Form == FormContent:
		return "request: _" + c.Request.Name + ", content: bytes | str"
	case c.Request == nil:
		return ""
	}
	all := []string{"request: _" + c.Request.Name + " | None = None", "*"}
	for _, f := range c.Request.Fields {
		if isPythonName(f.Name) {
			all = append(all, f.Name+": "+pythonType(f.Type)+" = ...")
		}
	}
	if len(all) == 2 {
		all = all[:1]
	}
	return strings.Join(all, ", ")
}

func pythonAnswer(c Call) string {
	switch {
	case c.Form == FormRandom, c.Form == FormBytes:
		return "bytes"
	case c.Answer == nil:
		return "None"
	}
	return "_" + c.Answer.Name
}
