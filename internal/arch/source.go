package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CheckSource parses the Go files of a package's folder, whatever their build
// constraints, and returns a sentence for each rule they break: a doc.go with
// the package comment (a program may have it in main.go), no init functions, and no package variable that is
// assigned after its declaration (but in a guest). Tests are not looked at.
func CheckSource(dir string, guest bool) ([]string, error) {
	fset := token.NewFileSet()
	files, err := parseFolder(fset, dir)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	broken := checkDoc(fset, dir, files)
	vars := packageVars(files)
	for _, f := range files {
		broken = append(broken, checkInit(fset, f)...)
		if !guest {
			broken = append(broken, checkAssignments(fset, f, vars)...)
		}
	}
	return broken, nil
}

func parseFolder(fset *token.FileSet, dir string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("listing Go files: %w", err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("parsing: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// CheckPaths returns a sentence for each text in the Go files of a package of runtime that holds a
// path of the protocol: where something is found is for adapters to say. Tests, and what sets
// things up for them, are not looked at.
func CheckPaths(importPath, dir string) ([]string, error) {
	local, ours := inModule(importPath)
	if !ours || !under(local, "runtime") || slices.Contains(forTests, local) {
		return nil, nil
	}
	fset := token.NewFileSet()
	files, err := parseFolder(fset, dir)
	var broken []string
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if ok && text.Kind == token.STRING && strings.Contains(text.Value, "/v1/") {
				broken = append(broken, fmt.Sprintf("%s: %s is a path, which adapters show: the engine records a name (abi/names.go)", fset.Position(text.Pos()), text.Value))
			}
			return true
		})
	}
	return broken, err
}

func checkDoc(fset *token.FileSet, dir string, files []*ast.File) []string {
	for _, f := range files {
		name := filepath.Base(fset.File(f.Pos()).Name())
		if f.Doc != nil && (name == "doc.go" || name == "main.go" && f.Name.Name == "main") {
			return nil
		}
	}
	return []string{dir + ": no doc.go with the package comment"}
}

func checkInit(fset *token.FileSet, f *ast.File) []string {
	var broken []string
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if ok && fn.Recv == nil && fn.Name.Name == "init" {
			broken = append(broken, fmt.Sprintf("%s: an init function acts behind the caller's back", fset.Position(fn.Pos())))
		}
	}
	return broken
}

// packageVars maps the names of the package's variables to their declarations.
func packageVars(files []*ast.File) map[string]*ast.ValueSpec {
	vars := map[string]*ast.ValueSpec{}
	for _, f := range files {
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				value := spec.(*ast.ValueSpec)
				for _, name := range value.Names {
					vars[name.Name] = value
				}
			}
		}
	}
	return vars
}

// checkAssignments finds assignments to package variables, and to elements and
// members of them.
func checkAssignments(fset *token.FileSet, f *ast.File, vars map[string]*ast.ValueSpec) []string {
	var broken []string
	check := func(target ast.Expr) {
		if name := assignedRoot(target); name != nil && name.Name != "_" && refersTo(name, vars) {
			broken = append(broken, fmt.Sprintf("%s: package variable %s is assigned to: state belongs in a value that somebody owns",
				fset.Position(target.Pos()), name.Name))
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, target := range n.Lhs {
					check(target)
				}
			}
		case *ast.IncDecStmt:
			check(n.X)
		}
		return true
	})
	return broken
}

// assignedRoot returns the identifier at the root of an assignment's target:
// x for x, x[i], x.f and *x.
func assignedRoot(e ast.Expr) *ast.Ident {
	for {
		switch target := e.(type) {
		case *ast.Ident:
			return target
		case *ast.IndexExpr:
			e = target.X
		case *ast.SelectorExpr:
			e = target.X
		case *ast.StarExpr:
			e = target.X
		case *ast.ParenExpr:
			e = target.X
		default:
			return nil
		}
	}
}

// refersTo reports whether an identifier means one of the package's variables
// and not a local one of the same name. The parser resolves names within a file
// only, so one that it left open is looked up by its text.
func refersTo(name *ast.Ident, vars map[string]*ast.ValueSpec) bool {
	spec, ok := vars[name.Name]
	if !ok {
		return false
	}
	return name.Obj == nil || name.Obj.Decl == spec
}

// banned are texts that no tracked file may hold. They are put together here so
// that this file holds none of them.
var banned = []struct{ text, why string }{
	{"/wo" + "rk/", "a path of one machine"},
	{"/ro" + "ot/", "a path of one machine"},
	{"/tm" + "p/", "a path that is not everybody's: use a folder made for the purpose"},
	{"proxy." + "golang.org", "the host of a package registry"},
	{"sum." + "golang.org", "the host of a package registry"},
	{"registry." + "npmjs.org", "the host of a package registry"},
	{"registry." + "yarnpkg.com", "the host of a package registry"},
	{"files." + "pythonhosted.org", "the host of a package registry"},
	{"pypi" + ".org", "the host of a package registry"},
	{"crates" + ".io", "the host of a package registry"},
	{"repo." + "maven.apache.org", "the host of a package registry"},
	{"repo1." + "maven.org", "the host of a package registry"},
	{"deb." + "debian.org", "the host of a package registry"},
}

// CheckText returns a sentence for each banned text in the file.
func CheckText(name string) ([]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a tracked file: %w", err)
	}
	if slices.Contains(data[:min(len(data), 8000)], 0) {
		return nil, nil // binary
	}
	var broken []string
	for number, line := range strings.Split(string(data), "\n") {
		for _, b := range banned {
			if strings.Contains(line, b.text) {
				broken = append(broken, fmt.Sprintf("%s:%d: %q is %s", name, number+1, b.text, b.why))
			}
		}
	}
	return broken, nil
}
