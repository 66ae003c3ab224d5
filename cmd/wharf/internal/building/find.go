package building

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lookFor returns the first of the programs that is there, "" when none is.
func lookFor(names ...string) string {
	for _, name := range names {
		if program, err := exec.LookPath(name); err == nil {
			if program, err = filepath.Abs(program); err == nil {
				return program
			}
		}
	}
	return ""
}

// line is the first line of what a program says.
func line(said []byte) string {
	first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return strings.ToValidUTF8(strings.TrimSpace(first), "\ufffd")
}

// madeOf reads rules of make, TARGET: FILE FILE, and returns the files.
func madeOf(rules string) (files []string) {
	rules = strings.ReplaceAll(strings.ReplaceAll(rules, "\\\r\n", " "), "\\\n", " ")
	for rule := range strings.Lines(rules) {
		_, made, ok := strings.Cut(strings.TrimSpace(rule), ": ")
		if !ok {
			continue
		}
		const space = "\x00"
		for _, file := range strings.Fields(strings.ReplaceAll(made, `\ `, space)) {
			files = append(files, strings.ReplaceAll(strings.ReplaceAll(file, space, " "), "$$", "$"))
		}
	}
	return files
}

// goReads lists the files of packages that lie elsewhere than in the standard library and among
// downloaded modules, whose contents follow from go.sum.
func goReads(ctx context.Context, folder, program string, environment []string, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, program, "list", "-deps", "-json=Dir,GoFiles,EmbedFiles,Standard,Module", dir)
	cmd.Dir, cmd.Env, cmd.WaitDelay = folder, append(os.Environ(), environment...), lingering
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("asking go what the plugin is made of: %w", err)
	}
	var files []string
	for dec := jsontext.NewDecoder(bytes.NewReader(out)); dec.PeekKind() == '{'; {
		var p struct {
			Dir                 string
			GoFiles, EmbedFiles []string
			Standard            bool
			Module              *struct {
				Version string
				Replace *struct{ Version string }
			}
		}
		if err := json.UnmarshalDecode(dec, &p); err != nil {
			return nil, fmt.Errorf("reading what go says: %w", err)
		}
		fetched := p.Module != nil && (p.Module.Version != "" && p.Module.Replace == nil || p.Module.Replace != nil && p.Module.Replace.Version != "")
		if p.Standard || fetched {
			continue
		}
		for _, name := range append(p.GoFiles, p.EmbedFiles...) {
			files = append(files, filepath.Join(p.Dir, name))
		}
	}
	return files, nil
}

// cargoArtifact is what cargo says of a crate that it has built.
type cargoArtifact struct {
	Reason       string   `json:"reason"`
	ManifestPath string   `json:"manifest_path"`
	Filenames    []string `json:"filenames"`
	Target       struct {
		CrateTypes []string `json:"crate_types"`
	} `json:"target"`
}

var errNoCdylib = errors.New("no crate of the folder makes a .wasm: its Cargo.toml needs, below [lib], crate-type = [\"cdylib\"]")

// wasmOf finds the module of the folder's own crate in what cargo says: that of its library, or else that of a program.
func wasmOf(folder string, said []byte) (string, error) {
	program := ""
	for l := range bytes.Lines(said) {
		var a cargoArtifact
		if json.Unmarshal(l, &a) != nil || a.Reason != "compiler-artifact" || !samePlace(filepath.Dir(a.ManifestPath), folder) {
			continue
		}
		i := slices.IndexFunc(a.Filenames, func(name string) bool { return filepath.Ext(name) == ".wasm" })
		switch {
		case i < 0:
		case slices.Contains(a.Target.CrateTypes, "cdylib"):
			return a.Filenames[i], nil
		default:
			program = a.Filenames[i]
		}
	}
	if program != "" {
		return program, nil
	}
	return "", &CompileError{Output: errNoCdylib.Error()}
}

func samePlace(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
