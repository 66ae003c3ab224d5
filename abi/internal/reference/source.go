package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wharf-dev/wharf/abi/schema"
)

// Source is what the source text of package abi says beyond its types.
type Source struct {
	types   map[string]typeDoc
	values  map[string][]string // the constants of each named string type
	remarks map[string]string   // on constants, by name
	kinds   map[string]string   // remarks on kinds of events, by their values
	named   map[string][]Constant
}

// Constant is one of the values that a named string type has.
type Constant struct {
	Name, Value string
	Remark      string // what the source says of it
}

type typeDoc struct {
	text   string
	fields map[string]string
}

// Read reads the Go files of a folder.
func Read(dir string) (*Source, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("listing the sources of abi: %w", err)
	}
	s := &Source{types: map[string]typeDoc{}, values: map[string][]string{}, remarks: map[string]string{}, kinds: map[string]string{}, named: map[string][]Constant{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("reading the sources of abi: %w", err)
		}
		for _, decl := range f.Decls {
			if group, ok := decl.(*ast.GenDecl); ok {
				s.readGroup(group)
			}
		}
	}
	return s, nil
}

func (s *Source) readGroup(group *ast.GenDecl) {
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.readType(spec, group.Doc)
		case *ast.ValueSpec:
			if group.Tok == token.CONST {
				s.readConst(spec)
			}
		}
	}
}

func (s *Source) readType(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	d := typeDoc{text: sentence(doc), fields: map[string]string{}}
	if of, ok := spec.Type.(*ast.StructType); ok {
		for _, field := range of.Fields.List {
			for _, name := range field.Names {
				d.fields[name.Name] = comment(field.Doc, field.Comment)
			}
		}
	}
	s.types[spec.Name.Name] = d
}

func (s *Source) readConst(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		s.remarks[name.Name] = comment(spec.Doc, spec.Comment)
		of, typed := spec.Type.(*ast.Ident)
		if !typed || i >= len(spec.Values) {
			continue
		}
		if literal, ok := spec.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if value, err := strconv.Unquote(literal.Value); err == nil {
				s.values[of.Name] = append(s.values[of.Name], value)
				s.named[of.Name] = append(s.named[of.Name], Constant{Name: name.Name, Value: value, Remark: s.remarks[name.Name]})
				if of.Name == kindType {
					s.kinds[value] = s.remarks[name.Name]
				}
			}
		}
	}
}

// comment returns the comment above or beside a declaration.
func comment(above, beside *ast.CommentGroup) string {
	if text := sentence(above); text != "" {
		return text
	}
	return sentence(beside)
}

func sentence(c *ast.CommentGroup) string {
	return readable(strings.Join(strings.Fields(c.Text()), " "))
}

var (
	goLink     = regexp.MustCompile(`\[([A-Z]\w*)\]`)
	statusName = regexp.MustCompile(`\bCall(OK|Invalid|Denied|NotFound|TooLarge|Unavailable|Indeterminate|Timeout)\b`)
)

// readable turns what only Go knows into words of the reference: the names of
// statuses, and links.
func readable(text string) string {
	text = goLink.ReplaceAllString(text, "$1")
	return statusName.ReplaceAllStringFunc(text, func(name string) string {
		return "`" + statusWord(strings.TrimPrefix(name, "Call")) + "`"
	})
}

var capital = regexp.MustCompile(`([a-z])([A-Z])`)

// statusWord is the word for a status: indeterminate, too_large.
func statusWord(name string) string {
	if name == "OK" {
		return "ok"
	}
	return strings.ToLower(capital.ReplaceAllString(name, "${1}_$2"))
}

// opening is the sentence of a type's comment that only says which call it belongs
// to.
var opening = regexp.MustCompile(`^\w+ (is the (first line of the )?request of|answers) [^.]*(\.[a-z]+)?\.? ?`)

// about returns the comment of a type without its opening.
func (s *Source) about(name string) string {
	return strings.TrimSpace(opening.ReplaceAllString(s.types[name].text, ""))
}

// Constants returns the constants of a named string type, in their order; none where other values
// are as good.
func (s *Source) Constants(t reflect.Type) []Constant {
	if slices.Contains(open, t.Name()) {
		return nil
	}
	return s.named[t.Name()]
}

// Remark returns what the source says of a constant.
func (s *Source) Remark(constant string) string { return s.remarks[constant] }

// About returns what the source says of a type; of a struct in the words of its members.
func (s *Source) About(t reflect.Type) string {
	text := s.about(t.Name())
	if t.Kind() != reflect.Struct {
		return text
	}
	return schema.InMembers(t, text)
}

// AboutField returns what the source says of a field, in the words of its struct's members.
func (s *Source) AboutField(t reflect.Type, f reflect.StructField) string {
	return schema.InMembers(t, s.types[t.Name()].fields[f.Name])
}

// Readable turns what only Go knows into words of the reference.
func Readable(text string) string { return readable(text) }
