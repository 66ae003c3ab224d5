// Command longtests names the tests that have a long form: those that read WHARF_LONG,
// themselves or through what they call in their package. CI runs these again with it,
// and no others.
//
// It writes one line of arguments for go test: -run with the tests, and their packages.
// What is called is found by its name alone, so it may name a test too many, never one
// too few, as long as it is functions of the package's test files that ask.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// variable is what a test reads to know that it may take long.
const variable = `"WHARF_LONG"`

// slowest is the package that takes longest. It begins first: at the end nothing would run beside it.
const slowest = "./runtime/sandbox"

func main() {
	tests, packages, err := find(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("-run ^(%s)$ %s\n", strings.Join(tests, "|"), strings.Join(packages, " "))
}

// find returns the tests with a long form below a folder, and the packages they are in.
func find(root string) (tests, packages []string, err error) {
	folders, err := testFiles(root)
	if err != nil {
		return nil, nil, err
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		long, err := longTests(folders[folder])
		if err != nil {
			return nil, nil, err
		}
		if len(long) > 0 {
			tests = append(tests, long...)
			packages = append(packages, "./"+filepath.ToSlash(folder))
		}
	}
	slices.Sort(tests)
	if i := slices.Index(packages, slowest); i > 0 {
		packages = slices.Insert(slices.Delete(packages, i, i+1), 0, slowest)
	}
	return slices.Compact(tests), packages, nil
}

// testFiles returns the paths of test files by their folders.
func testFiles(root string) (map[string][]string, error) {
	folders := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, "_test.go") {
			folders[filepath.Dir(path)] = append(folders[filepath.Dir(path)], path)
		}
		return err
	})
	return folders, err
}

// longTests returns the tests of one package that lead to the variable.
func longTests(files []string) ([]string, error) {
	mentions := map[string]map[string]bool{} // by function, the names in it
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				note(mentions, f)
			}
		}
	}
	long := map[string]bool{variable: true}
	for grown := true; grown; {
		grown = false
		for name, named := range mentions {
			if !long[name] && leads(named, long) {
				long[name], grown = true, true
			}
		}
	}
	var tests []string
	for name := range long {
		if strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
	}
	return tests, nil
}

// note notes the names and texts that a function mentions. Functions of one name count
// as one.
func note(mentions map[string]map[string]bool, f *ast.FuncDecl) {
	named := mentions[f.Name.Name]
	if named == nil {
		named = map[string]bool{}
		mentions[f.Name.Name] = named
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if n != f.Name {
				named[n.Name] = true
			}
		case *ast.BasicLit:
			named[n.Value] = true
		}
		return true
	})
}

func leads(named, long map[string]bool) bool {
	for name := range named {
		if long[name] {
			return true
		}
	}
	return false
}
