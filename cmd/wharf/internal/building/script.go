package building

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/wharf-dev/wharf/plugins/js"
)

// ScriptToolchain is what TypeScript and JavaScript are built with.
const ScriptToolchain = "esbuild and QuickJS, in wharf"

// script builds with what this program has in it.
func script(_ context.Context, p Project) (*Plan, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	plan := &Plan{Toolchain: ScriptToolchain, stamp: stamp(program)}
	plan.inside = func() ([]byte, []string, error) {
		entry := filepath.Join(p.Folder, filepath.FromSlash(p.Manifest.Entry))
		bundled, err := js.Bundle(entry)
		if problems, ok := errors.AsType[js.Problems](err); ok {
			for i := range problems {
				if f := &problems[i].File; *f != "" && !path.IsAbs(filepath.ToSlash(*f)) { // as seen from the entry's folder
					*f = path.Join(sourceFolder(p.Manifest), filepath.ToSlash(*f))
				}
			}
			return nil, nil, &CompileError{Output: problems.Error()}
		}
		if err != nil {
			return nil, nil, err
		}
		var read []string
		for _, name := range bundled.Inputs { // as seen from the entry's folder
			if !filepath.IsAbs(name) {
				name = filepath.Join(filepath.Dir(entry), filepath.FromSlash(name))
			}
			read = append(read, name)
		}
		return bundled.Module, read, nil
	}
	return plan, nil
}
