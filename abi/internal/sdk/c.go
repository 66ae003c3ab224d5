package sdk

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// partNames are the parts of the header that are written by hand, in order. What is generated comes
// before the last.
var partNames = []string{"c/parts/base.h", "c/parts/json.h", "c/parts/call.h", "c/parts/task.h"}

// C is the header wharf.h: the parts that are written by hand, and between them the types, how
// they are written and read, and a function for each call.
func C(api *API, parts map[string]string) []byte {
	var l lines
	last := len(partNames) - 1
	for _, name := range partNames[:last] {
		l.WriteString(parts[name] + "\n")
	}
	for _, call := range api.Calls {
		l.f("WHARF_HOST(%s, %q)", function(call.Name), call.Name)
	}
	l.f("#ifdef __cplusplus\n}\n#endif\n")
	l.f("/* --- requests and answers of %s ------------------------------------------------ */\n", api.Version)
	for _, e := range api.Enums {
		cEnum(&l, e)
	}
	for _, s := range api.Structs {
		l.f("typedef struct %[1]s %[1]s;", cStruct(s))
		l.f("typedef struct wharf_%[2]s_list_t { const %[1]s *items; size_t count; } wharf_%[2]s_list_t;", cStruct(s), snake(s.Name))
	}
	for _, s := range api.Structs {
		cDeclare(&l, s)
	}
	for _, s := range api.Structs {
		l.f("WHARF_FN void wharf_put_%[1]s(wharf_writer *w, const wharf_%[1]s_t *v);", snake(s.Name))
		l.f("WHARF_FN void wharf_get_%[1]s(wharf_reader *r, wharf_%[1]s_t *v);", snake(s.Name))
	}
	for _, s := range api.Structs {
		cPut(&l, s)
		cGet(&l, s)
	}
	for _, call := range api.Calls {
		cCall(&l, call)
	}
	l.WriteString("\n" + parts[partNames[last]])
	return []byte(l.String())
}

var word = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// snake is a name of Go's in small letters.
func snake(name string) string {
	return strings.ToLower(word.ReplaceAllString(name, "${1}${3}_${2}${4}"))
}

func cStruct(s *Struct) string { return "wharf_" + snake(s.Name) + "_t" }

// cDoc keeps a comment from ending early.
func cDoc(text string) string { return strings.ReplaceAll(text, "*/", "* /") }

func (l *lines) comment(indent, text string) {
	if text == "" {
		return
	}
	all := wrap(cDoc(text), 100)
	for i, line := range all {
		open, end := "   ", ""
		if i == 0 {
			open = "/* "
		}
		if i == len(all)-1 {
			end = " */"
		}
		l.f("%s%s%s%s", indent, open, line, end)
	}
}

func cEnum(l *lines, e *Enum) {
	l.comment("", or(e.Doc, e.Name+" is one of these, or one that a newer host knows."))
	for _, v := range e.Values {
		l.f("#define WHARF_%s_%s %q", strings.ToUpper(snake(e.Name)), constant(v.Text), v.Text)
	}
	l.f("")
}

// cKeywords are words of C and C++ that no member can have as its name, and macros of C libraries.
var cKeywords = []string{"new", "delete", "class", "default", "switch", "export", "operator", "this", "private", "public", "template", "register", "and", "or", "not", "bool", "stdout", "stderr"}

func cName(member string) string {
	member = strings.TrimPrefix(member, "_")
	if slices.Contains(cKeywords, member) {
		return member + "_"
	}
	return member
}

// pointed reports whether a member is a pointer, which is NULL for nothing.
func (f *Field) pointed() bool {
	switch f.Type.Kind {
	case Object:
		return f.Pointer || f.Optional || f.Boxed
	case Text, JSON, Time, Bytes, List, Map:
		return false
	}
	return f.Pointer
}

func cType(t Type) string {
	switch t.Kind {
	case JSON:
		return "wharf_json"
	case Bytes:
		return "wharf_bytes"
	case Bool:
		return "bool"
	case Integer:
		return "int64_t"
	case Natural:
		return "uint64_t"
	case Number:
		return "double"
	case Object:
		return cStruct(t.Struct)
	case List:
		if t.Elem.Kind == Object {
			return "wharf_" + snake(t.Elem.Struct.Name) + "_list_t"
		}
		return cType(*t.Elem) + "_list"
	case Map:
		return map[Kind]string{Text: "wharf_text_map", JSON: "wharf_json_map", Number: "wharf_number_map"}[t.Elem.Kind]
	}
	return "wharf_text"
}

func cDeclare(l *lines, s *Struct) {
	l.f("")
	l.comment("", s.Doc)
	l.f("struct %s {", cStruct(s))
	for _, f := range s.Fields {
		l.comment("\t", f.Doc)
		if f.pointed() {
			l.f("\tconst %s *%s;", cType(f.Type), cName(f.Name))
		} else {
			l.f("\t%s %s;", cType(f.Type), cName(f.Name))
		}
	}
	l.f("};")
}

// present is the condition under which a member is written, "" for always.
func (f *Field) present() string {
	v := "v->" + cName(f.Name)
	switch {
	case !f.Optional:
		return ""
	case f.pointed(), f.Type.Kind == Bool, f.Type.Kind == Integer, f.Type.Kind == Natural, f.Type.Kind == Number:
		return v
	case f.Type.Kind == List, f.Type.Kind == Map:
		return v + ".count"
	case f.Pointer, f.Type.Kind == JSON:
		return v + ".data"
	}
	return v + ".len"
}

// cPutValue is the statement that writes a value.
func cPutValue(t Type, v string) string {
	switch t.Kind {
	case JSON:
		return "wharf_put_json(w, " + v + ");"
	case Bytes:
		return "wharf_put_base64(w, " + v + ");"
	case Bool:
		return "wharf_put_bool(w, " + v + ");"
	case Integer:
		return "wharf_put_integer(w, " + v + ");"
	case Natural:
		return "wharf_put_natural(w, " + v + ");"
	case Number:
		return "wharf_put_number(w, " + v + ");"
	case Object:
		return "wharf_put_" + snake(t.Struct.Name) + "(w, &" + v + ");"
	case List:
		return fmt.Sprintf("wharf_put_array(w); for (size_t i = 0; i < %[1]s.count; i++) { %[2]s } wharf_end_array(w);", v, cPutValue(*t.Elem, v+".items[i]"))
	case Map:
		return fmt.Sprintf("wharf_put_object(w); for (size_t i = 0; i < %[1]s.count; i++) { wharf_put_name(w, %[1]s.items[i].name); %[2]s } wharf_end_object(w);", v, cPutValue(*t.Elem, v+".items[i].value"))
	}
	return "wharf_put_text(w, " + v + ");"
}

func cPut(l *lines, s *Struct) {
	l.f("\nWHARF_FN void wharf_put_%[1]s(wharf_writer *w, const wharf_%[1]s_t *v) {", snake(s.Name))
	l.f("\t(void)v;\n\twharf_put_object(w);")
	for _, f := range s.Fields {
		v := "v->" + cName(f.Name)
		if f.pointed() {
			v = "(*" + v + ")"
		}
		put := fmt.Sprintf("wharf_put_name(w, wharf_str(%q)); %s", f.Name, cPutValue(f.Type, v))
		switch condition := f.present(); {
		case condition != "":
			l.f("\tif (%s) { %s }", condition, put)
		case f.pointed():
			l.f("\twharf_put_name(w, wharf_str(%[1]q)); if (v->%[2]s) { %[3]s } else { wharf_json none = {NULL, 0}; wharf_put_json(w, none); }", f.Name, cName(f.Name), cPutValue(f.Type, v))
		default:
			l.f("\t%s", put)
		}
	}
	l.f("\twharf_end_object(w);\n}")
}

// cGetValue is the statement that reads a value.
func cGetValue(t Type, v string) string {
	switch t.Kind {
	case JSON:
		return v + " = wharf_get_json(r);"
	case Bytes:
		return v + " = wharf_get_base64(r);"
	case Bool:
		return v + " = wharf_get_bool(r);"
	case Integer:
		return v + " = wharf_get_integer(r);"
	case Natural:
		return v + " = wharf_get_natural(r);"
	case Number:
		return v + " = wharf_get_number(r);"
	case Object:
		return "wharf_get_" + snake(t.Struct.Name) + "(r, &" + v + ");"
	case List:
		return cGetItems(v, cType(*t.Elem), "wharf_get_array(r); wharf_next_item(r);", cGetValue(*t.Elem, "items[n]"))
	case Map:
		item := "wharf_pair"
		if t.Elem.Kind == Number {
			item = "wharf_metric"
		}
		return cGetItems(v, item, "wharf_get_object(r); wharf_next_member(r, &name);", "items[n].name = name; "+cGetValue(*t.Elem, "items[n].value"))
	}
	return v + " = wharf_get_text(r);"
}

func cGetItems(v, item, loop, get string) string {
	return fmt.Sprintf("if (!wharf_get_null(r)) { %[2]s *items = NULL; size_t n = 0, room = 0; for (%[3]s n++) { items = (%[2]s *)wharf_grow(items, n, &room, sizeof *items); %[4]s } %[1]s.items = items; %[1]s.count = n; }",
		v, item, loop, get)
}

func cGet(l *lines, s *Struct) {
	l.f("\nWHARF_FN void wharf_get_%[1]s(wharf_reader *r, wharf_%[1]s_t *v) {", snake(s.Name))
	l.f("\twharf_text name;\n\t__builtin_memset(v, 0, sizeof *v);\n\tif (wharf_get_null(r)) return;\n\tfor (wharf_get_object(r); wharf_next_member(r, &name);) {")
	otherwise := ""
	for _, f := range s.Fields {
		v := "v->" + cName(f.Name)
		get := cGetValue(f.Type, v)
		if f.pointed() {
			get = fmt.Sprintf("if (!wharf_get_null(r)) { %[1]s *p = (%[1]s *)wharf_alloc(sizeof *p); %[2]s %[3]s = p; }", cType(f.Type), cGetValue(f.Type, "(*p)"), v)
		}
		l.f("\t\t%sif (wharf_is(name, %q)) { %s }", otherwise, f.Name, get)
		otherwise = "else "
	}
	if otherwise == "" {
		l.f("\t\twharf_skip(r);")
	} else {
		l.f("\t\telse wharf_skip(r);")
	}
	l.f("\t}\n}")
}

// cCallDoc writes a call's comment with its example. One that is of several calls stands at the first.
func cCallDoc(l *lines, c Call, doc string) {
	all := wrap(cDoc(doc), 100)
	example := c.Examples[InC]
	if len(example.Calls) > 0 && example.Calls[0] != c.Name {
		all = append(all, "Its example is that of wharf_"+function(example.Calls[0])+".")
	} else {
		// A comment within a comment would end it.
		inComment := strings.NewReplacer("/* ", "// ", " */", "")
		for _, line := range c.example(InC, "", "\t") {
			all = append(all, inComment.Replace(line))
		}
	}
	l.f("/* %s", all[0])
	for _, line := range all[1:] {
		if line != "" && line[0] != '\t' {
			line = "   " + line
		}
		l.f("%s", line)
	}
	l.f(" */")
}

func cCall(l *lines, c Call) {
	name, arguments := function(c.Name), []string{}
	doc := c.Doc
	if c.Limit != "" {
		doc += " Limit: " + c.Limit + "."
	}
	if c.Key != "" {
		doc += " A replay can give another answer under the key " + c.Key + "."
	}
	request := "NULL, 0"
	if c.Request != nil {
		arguments, request = append(arguments, "const "+cStruct(c.Request)+" *request"), "w.data, (uint32_t)w.len"
	}
	switch c.Form {
	case FormRandom:
		arguments, request = append(arguments, "uint32_t count"), "little, 4"
	case FormContent:
		arguments = append(arguments, "wharf_bytes content")
	}
	switch {
	case c.Answer != nil:
		arguments = append(arguments, cStruct(c.Answer)+" *answer")
	case c.Form != FormJSON:
		arguments = append(arguments, "wharf_bytes *answer")
	}
	l.f("")
	cCallDoc(l, c, doc)
	l.f("WHARF_FN wharf_status wharf_%s(%s) {", name, strings.Join(arguments, ", "))
	l.f("\twharf_text text;\n\twharf_status failed;")
	if c.Request != nil {
		l.f("\twharf_writer w = {NULL, 0, 0, false};\n\twharf_put_%s(&w, request);", snake(c.Request.Name))
	}
	switch c.Form {
	case FormRandom:
		l.f("\tuint8_t little[4] = {(uint8_t)count, (uint8_t)(count >> 8), (uint8_t)(count >> 16), (uint8_t)(count >> 24)};")
	case FormContent:
		l.f("\twharf_put_char(&w, '\\n');\n\twharf_put_raw(&w, (const char *)content.data, content.len);")
	}
	l.f("\tfailed = wharf_take_answer(%q, wharf_host_%s(%s), %t, &text);", c.Name, name, request, c.MayBeWithheld)
	switch {
	case c.Answer != nil:
		l.f("\t__builtin_memset(answer, 0, sizeof *answer);\n\tif (failed || wharf_last_error.withheld) return failed;")
		l.f("\twharf_reader r = wharf_read(text);\n\twharf_get_%s(&r, answer);\n\treturn wharf_took(%q, &r);\n}", snake(c.Answer.Name), c.Name)
	case c.Form != FormJSON:
		l.f("\tanswer->data = (const uint8_t *)text.data;\n\tanswer->len = failed ? 0 : text.len;\n\treturn failed;\n}")
	default:
		l.f("\treturn failed;\n}")
	}
}
