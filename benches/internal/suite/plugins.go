package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	goalScriptTasks  = 0.5
	goalInstallFirst = 1000 // ms
)

// measureScriptTasks measures Tasks of new plugins in TypeScript and Python, which say hello, beside those of
// the echo in C.
func measureScriptTasks(ctx context.Context, s *Suite) ([]report.Row, error) {
	folder, remove, err := s.folder("scripts")
	if err != nil {
		return nil, err
	}
	defer remove()
	for _, language := range []string{"typescript", "python"} {
		if err := s.newPlugin(ctx, folder, language); err != nil {
			return nil, err
		}
		if err := os.Rename(filepath.Join(folder, language, "build", language+".wasm"), filepath.Join(folder, language+".wasm")); err != nil {
			return nil, fmt.Errorf("keeping a plugin: %w", err)
		}
	}
	env := []string{"WHARF_PLUGINS_DIR=" + folder}
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return nil, err
	}
	defer remove()
	for _, persona := range []string{"persona_typescript", "persona_python"} { // so that other nodes begin with their modules
		if _, err := s.firstTask(ctx, dir, persona, env); err != nil {
			return nil, err
		}
	}
	defer func(before string) { s.modules = before }(s.modules)
	s.modules = filepath.Join(dir, modulesFolder)
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.fresh("C", shape{wait: true}, env),
		c.fresh("TypeScript", shape{wait: true, persona: "persona_typescript"}, env),
		c.fresh("Python", shape{wait: true, persona: "persona_python"}, env),
	})
	if err != nil {
		return nil, err
	}
	row := func(language string) report.Row {
		return report.Row{
			What: fmt.Sprintf("Task accepted to COMPLETED, hello in %s, %d connections", language, s.Conns), Wharf: report.NewFigure(perSecond, got[language]),
			Note: fmt.Sprintf("processor time of the server for each: %.0f µs (in C: %.0f µs)", report.Median(c.cpu[language]), report.Median(c.cpu["C"])),
		}.Against("echo in C", report.NewFigure(perSecond, got["C"]))
	}
	return []report.Row{row("TypeScript").Must(report.AtLeast, goalScriptTasks), row("Python")}, nil
}

// newPlugin makes and builds a plugin that is called after its language, in a folder of that name.
func (s *Suite) newPlugin(ctx context.Context, folder, language string) error {
	plugin := filepath.Join(folder, language)
	if err := s.command(ctx, nil, "plugin", "new", plugin, "--lang", language); err != nil {
		return err
	}
	return s.command(ctx, nil, "plugin", "build", plugin)
}

// command runs a command of the node's binary, for a node if one is given.
func (s *Suite) command(ctx context.Context, n *node.Node, args ...string) error {
	cmd := exec.CommandContext(ctx, s.Binary, args...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "WHARF_API_KEY="+node.APIKey)
	if n != nil {
		cmd.Env = append(cmd.Env, "WHARF_SERVER=http://"+n.Addr)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("wharf %s: %w\n%s", args, err, out)
	}
	return nil
}

// measureInstall measures how long an author waits for the first answer of a plugin in Go that was just built: the
// command that installs it, and a Task.
func measureInstall(ctx context.Context, s *Suite) ([]report.Row, error) {
	folder, remove, err := s.folder("installed")
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := s.newPlugin(ctx, folder, "go"); err != nil {
		return nil, err
	}
	plugin := filepath.Join(folder, "go")
	module, err := os.Stat(filepath.Join(plugin, "build", "go.wasm"))
	if err != nil {
		return nil, fmt.Errorf("looking at what was built: %w", err)
	}
	got, err := s.interleave(ctx, []step{{"install", func(ctx context.Context) (float64, error) {
		took, err := s.installOnce(ctx, plugin)
		return millis(took), err
	}}})
	if err != nil {
		return nil, err
	}
	return []report.Row{report.Row{
		What:  fmt.Sprintf("wharf plugin install of %.1f MB of Go to the first Task's answer", float64(module.Size())/megabyte),
		Wharf: report.NewFigure("ms", got["install"]),
	}.Must(report.AtMost, goalInstallFirst)}, nil
}

// installOnce installs a plugin in a node that has never seen it, and has a Task of it done.
func (s *Suite) installOnce(ctx context.Context, plugin string) (time.Duration, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return 0, err
	}
	defer remove()
	n, err := s.start(ctx, dir)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	err = s.command(ctx, n, "plugin", "install", plugin)
	if err == nil {
		err = completeOne(ctx, n, "persona_go", compileLimit)
	}
	if err != nil {
		n.Kill()
		return 0, withOutput(err, n)
	}
	return time.Since(begun), n.Stop()
}
