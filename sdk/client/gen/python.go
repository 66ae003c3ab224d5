package main

import (
	"maps"
	"slices"
	"strings"
)

func writePython(a *api) []byte {
	w := &writer{}
	w.line("# %s", notice)
	w.line(`"""Types, operations and resources of a node."""

from __future__ import annotations

from typing import Any, Awaitable, BinaryIO, Dict, List, Literal, Mapping, NamedTuple, NotRequired, Protocol, TypeAlias, TypedDict, TypeVar, Union
`)
	w.line("JSON: TypeAlias = Dict[str, Any]\n")
	for _, name := range slices.Sorted(maps.Keys(a.types)) {
		pyType(w, a.types[name])
	}
	pyOperations(w, a)
	for _, r := range surface() {
		pyResource(w, a, r, false)
		pyResource(w, a, r, true)
	}
	w.line("\n#: What to do about an error, by its code.\nADVICE: Dict[str, str] = {")
	for _, code := range a.codes {
		w.line("    %q: %q,", code, advice()[code])
	}
	w.line("}")
	return []byte(w.String())
}

func pyDoc(w *writer, indent, doc string) {
	if doc != "" {
		doc = strings.ReplaceAll(strings.ReplaceAll(doc, `\`, `\\`), "\n", " ")
		w.line(`%s"""%s"""`, indent, strings.ReplaceAll(doc, `"`, `'`))
	}
}

func pyType(w *writer, t *typ) {
	switch {
	case len(t.words) > 0:
		w.line("%s: TypeAlias = Literal[%s]\n", t.name, quoted(t.words, ", "))
	case len(t.variants) > 0:
		w.line("%s: TypeAlias = Union[%s]\n", t.name, quoted(namesOf(t.variants), ", "))
	case len(t.members) == 0:
		w.line("%s: TypeAlias = Dict[str, Any]\n", t.name)
	default:
		w.line("\nclass %s(TypedDict):", t.name)
		pyDoc(w, "    ", t.doc)
		for _, m := range t.members {
			name := pyValue(m.value)
			if !m.required {
				name = "NotRequired[" + name + "]"
			}
			if m.doc != "" {
				w.line("    #: %s", strings.ReplaceAll(m.doc, "\n", " "))
			}
			w.line("    %s: %s", m.name, name)
		}
		w.line("")
	}
}

func pyValue(v *value) string {
	name := pyPlain(v)
	if v.nullable && v.kind != anything {
		name = "Union[" + name + ", None]"
	}
	return name
}

func pyPlain(v *value) string {
	switch v.kind {
	case text, instant, binary:
		return "str"
	case integer:
		return "int"
	case number:
		return "float"
	case boolean:
		return "bool"
	case literal:
		return "Literal[" + quoted(v.words, ", ") + "]"
	case list:
		return "List[" + pyValue(v.of[0]) + "]"
	case dictionary:
		return "Dict[str, " + pyValue(v.of[0]) + "]"
	case object:
		return "JSON"
	case named:
		return v.name
	case either:
		var all []string
		for _, one := range v.of {
			all = append(all, pyValue(one))
		}
		return "Union[" + strings.Join(all, ", ") + "]"
	}
	return "Any"
}

func pyOperations(w *writer, a *api) {
	w.line(`
class Operation(NamedTuple):
    """An operation of a node. One that is keyed takes an idempotency key."""

    name: str
    method: str
    path: str
    keyed: bool

`)
	w.line("#: The operations of a node, by their names in its OpenAPI document.\nOPERATIONS: Dict[str, Operation] = {")
	for _, id := range slices.Sorted(maps.Keys(a.operations)) {
		op := a.operations[id]
		keyed := "False"
		if op.keyed {
			keyed = "True"
		}
		w.line("    %q: Operation(%q, %q, %q, %s),", id, id, op.method, op.path, keyed)
	}
	w.line("}\n")
	w.line("#: What is uploaded: bytes, or a file that is open for reading bytes, which is not read into memory.\nContent: TypeAlias = Union[bytes, BinaryIO]\n")
	for _, c := range [][3]string{{"Caller", "Any", "bytes"}, {"AsyncCaller", "Awaitable[Any]", "Awaitable[bytes]"}} {
		w.line(`
class %s(Protocol):
    """Sends the request of an operation, and returns what it is answered with."""

    def call(self, operation: str, path: List[str], query: Any, body: Any, idempotency_key: Union[str, None],
             headers: Union[Mapping[str, str], None]) -> %s: ...

    def upload(self, operation: str, path: List[str], query: Any, content: Content, media: str, idempotency_key: Union[str, None],
               headers: Union[Mapping[str, str], None]) -> %s: ...

    def download(self, operation: str, path: List[str], query: Any, headers: Union[Mapping[str, str], None]) -> %s: ...
`, c[0], c[1], c[1], c[2])
	}
}

func pyResource(w *writer, a *api, r resource, async bool) {
	prefix, def, await := "", "def", ""
	if async {
		prefix, def, await = "Async", "async def", "await "
	}
	w.line("\nclass %s%sResource:", prefix, pascal(r.name))
	pyDoc(w, "    ", r.doc)
	w.line("\n    def __init__(self, caller: %sCaller) -> None:\n        self._caller = caller", prefix)
	for _, m := range r.methods {
		op := a.operations[m.operation]
		parameters := append([]string{"self"}, typed(op.inPath)...)
		query, body := "None", "None"
		media := m.sends(op)
		if media != "" {
			parameters = append(parameters, "content: Content")
		} else if op.body != nil {
			body = "body"
			if op.needsBody {
				parameters = append(parameters, "body: "+pyValue(op.body))
			} else {
				parameters = append(parameters, "body: Union["+pyValue(op.body)+", None] = None")
			}
		}
		if op.query != "" {
			query = "query"
			parameters = append(parameters, "query: Union["+op.query+", None] = None")
		}
		parameters = append(parameters, "*")
		if !op.answersBytes {
			parameters = append(parameters, "idempotency_key: Union[str, None] = None")
		}
		parameters = append(parameters, "headers: Union[Mapping[str, str], None] = None")
		answer := "None"
		if op.answer != nil {
			answer = pyValue(op.answer)
		}
		call := `call("` + op.id + `", [` + strings.Join(op.inPath, ", ") + "], " + query + ", " + body + ", idempotency_key, headers)"
		switch {
		case op.answersBytes:
			answer, call = "bytes", `download("`+op.id+`", [`+strings.Join(op.inPath, ", ")+"], "+query+", headers)"
		case media != "":
			call = `upload("` + op.id + `", [` + strings.Join(op.inPath, ", ") + "], " + query + `, content, "` + media + `", idempotency_key, headers)`
		}
		call = await + "self._caller." + call
		w.line("\n    %s %s(%s) -> %s:", def, snake(m.name), strings.Join(parameters, ", "), answer)
		pyDoc(w, "        ", op.doc)
		if answer == "None" {
			w.line("        %s", call)
			continue
		}
		w.line("        answer: %s = %s\n        return answer", answer, call)
	}
	w.line("")
}

func typed(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = name + ": str"
	}
	return all
}
