package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

func writeTypeScript(a *api) []byte {
	w := &writer{}
	w.line("// %s\n", notice)
	for _, name := range slices.Sorted(maps.Keys(a.types)) {
		tsType(w, a.types[name])
	}
	tsOperations(w, a)
	for _, r := range surface() {
		tsResource(w, a, r)
	}
	w.line("/** The codes of errors. */\nexport type ErrorCode = %s;\n", quoted(a.codes, " | "))
	w.line("/** What to do about an error, by its code. */\nexport const advice: Readonly<Record<string, string>> = {")
	for _, code := range a.codes {
		w.line("  %s: %q,", code, advice()[code])
	}
	w.line("};")
	return []byte(w.String())
}

func tsDoc(w *writer, indent, doc string) {
	if doc != "" {
		w.line("%s/** %s */", indent, strings.ReplaceAll(strings.ReplaceAll(doc, "*/", "*\\/"), "\n", " "))
	}
}

func tsType(w *writer, t *typ) {
	tsDoc(w, "", t.doc)
	switch {
	case len(t.words) > 0:
		w.line("export type %s = %s;\n", t.name, quoted(t.words, " | "))
	case len(t.variants) > 0:
		w.line("export type %s = %s;\n", t.name, strings.Join(namesOf(t.variants), " | "))
	case len(t.members) == 0:
		w.line("export type %s = Record<string, unknown>;\n", t.name)
	default:
		w.line("export interface %s {", t.name)
		for _, m := range t.members {
			tsDoc(w, "  ", m.doc)
			mark := "?"
			if m.required {
				mark = ""
			}
			w.line("  %s%s: %s;", m.name, mark, tsValue(m.value))
		}
		w.line("}\n")
	}
}

func namesOf(types []*typ) []string {
	var names []string
	for _, t := range types {
		names = append(names, t.name)
	}
	return names
}

func quoted(words []string, between string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = strconv.Quote(word)
	}
	return strings.Join(all, between)
}

func tsValue(v *value) string {
	name := tsPlain(v)
	if v.nullable && v.kind != anything {
		name += " | null"
	}
	return name
}

func tsPlain(v *value) string {
	switch v.kind {
	case text, instant, binary:
		return "string"
	case integer, number:
		return "number"
	case boolean:
		return "boolean"
	case literal:
		return quoted(v.words, " | ")
	case list:
		return "Array<" + tsValue(v.of[0]) + ">"
	case dictionary:
		return "Record<string, " + tsValue(v.of[0]) + ">"
	case object:
		return "Record<string, unknown>"
	case named:
		return v.name
	case either:
		var all []string
		for _, one := range v.of {
			all = append(all, tsValue(one))
		}
		return strings.Join(all, " | ")
	}
	return "unknown"
}

func tsOperations(w *writer, a *api) {
	w.line("/** An operation of a node. One that is keyed takes an idempotency key. */")
	w.line("export interface Operation {\n  readonly method: string;\n  readonly path: string;\n  readonly keyed: boolean;\n}\n")
	w.line("/** The operations of a node, by their names in its OpenAPI document. */\nexport const operations = {")
	for _, id := range slices.Sorted(maps.Keys(a.operations)) {
		op := a.operations[id]
		tsDoc(w, "  ", op.doc)
		w.line("  %s: { method: %q, path: %q, keyed: %v },", id, op.method, op.path, op.keyed)
	}
	w.line("} as const satisfies Record<string, Operation>;\n")
	w.line("/** What one call may want otherwise. */")
	w.line("export interface CallOptions {")
	w.line("  /** Names the write, so that it is done once however often it is sent; a new one is made without it. */\n  idempotencyKey?: string;")
	w.line("  headers?: Record<string, string>;\n  signal?: AbortSignal;\n}\n")
	w.line("/** What is asked with an operation. */")
	w.line("export interface Asked {\n  path?: readonly string[];\n  query?: object;\n  body?: unknown;\n}\n")
	w.line("/** Sends the request of an operation, and returns what it is answered with. */")
	w.line("export interface Caller {\n  call<T>(operation: Operation, asked: Asked, options?: CallOptions): Promise<T>;")
	w.line("  /** Sends bytes, of a media type. */")
	w.line("  upload<T>(operation: Operation, asked: Asked, content: Content, media: string, options?: CallOptions): Promise<T>;")
	w.line("  /** Sends the request of an operation, and returns the bytes that it is answered with. */")
	w.line("  download(operation: Operation, asked: Asked, options?: CallOptions): Promise<Uint8Array>;\n}\n")
	w.line("/** What is uploaded. A Blob can be a file, which is not read into memory: that of a form, or of openAsBlob in Node. */")
	w.line("export type Content = Uint8Array<ArrayBuffer> | Blob | string;\n")
}

func tsResource(w *writer, a *api, r resource) {
	tsDoc(w, "", r.doc)
	w.line("export class %s {\n  constructor(protected readonly caller: Caller) {}", pascal(r.name)+"Resource")
	for _, m := range r.methods {
		op := a.operations[m.operation]
		var parameters, asked, path []string
		for _, p := range op.inPath {
			parameters = append(parameters, camel(p)+": string")
			path = append(path, camel(p))
		}
		if len(path) > 0 {
			asked = append(asked, "path: ["+strings.Join(path, ", ")+"]")
		}
		media := m.sends(op)
		if media != "" {
			parameters = append(parameters, "content: Content")
		} else if op.body != nil {
			otherwise := ""
			if !op.needsBody {
				otherwise = " = {}"
			}
			parameters, asked = append(parameters, "body: "+tsValue(op.body)+otherwise), append(asked, "body")
		}
		if op.query != "" {
			parameters, asked = append(parameters, "query: "+op.query+" = {}"), append(asked, "query")
		}
		parameters = append(parameters, "options: CallOptions = {}")
		answer := "void"
		if op.answer != nil {
			answer = tsValue(op.answer)
		}
		call := fmt.Sprintf("call(operations.%s, %s, options)", op.id, braces(asked))
		switch {
		case op.answersBytes:
			answer, call = "Uint8Array", fmt.Sprintf("download(operations.%s, %s, options)", op.id, braces(asked))
		case media != "":
			call = fmt.Sprintf("upload(operations.%s, %s, content, %q, options)", op.id, braces(asked), media)
		}
		w.line("")
		tsDoc(w, "  ", op.doc)
		w.line("  %s(%s): Promise<%s> {", m.name, strings.Join(parameters, ", "), answer)
		w.line("    return this.caller.%s;\n  }", call)
	}
	w.line("}\n")
}

func braces(members []string) string {
	if len(members) == 0 {
		return "{}"
	}
	return fmt.Sprintf("{ %s }", strings.Join(members, ", "))
}
