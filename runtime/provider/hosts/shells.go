package hosts

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Shell is a shell as the contract of shell discovery has it: all members are there.
type Shell struct {
	ID          string   `json:"id"`
	Label       string   `json:"label"`
	Path        string   `json:"path"`
	Platform    string   `json:"platform"`
	Available   bool     `json:"available"`
	Login       bool     `json:"supports_login"`
	Interactive bool     `json:"supports_interactive"`
	Args        []string `json:"default_args"`
	LoginArgs   []string `json:"login_args"`
	Source      string   `json:"source"`
}

// Shells are what list_shells answers.
type Shells struct {
	Shells  []Shell `json:"shells"`
	Default *string `json:"default_shell_id"` // nil when there is none
}

// Invocation is what shell_invocation answers.
type Invocation struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Index   int      `json:"command_arg_index"`
	Shell   Shell    `json:"shell"`
}

// The sources of shells.
const (
	sourceEnv      = "env"
	sourceListed   = "etc_shells"
	sourceFallback = "fallback"
	sourceHost     = "host"
)

var sources = []string{"configured", sourceEnv, "login", sourceListed, sourceFallback, sourceHost}

// System is what is known of a system by which its shells are found.
type System struct {
	Platform string                                   // as Go names it
	Getenv   func(name string) string                 // of its environment
	Listed   []byte                                   // /etc/shells; nil for none
	Runs     func(path string) bool                   // whether a program is there, and may be run
	Find     func(name string) (path string, ok bool) // in the folders of programs
}

// Discover returns the shells of a system: what the environment names, what /etc/shells lists, and what
// every such system has. The first is the default.
func Discover(s *System) Shells {
	var found Shells
	found.Shells = []Shell{}
	add := func(path, source string) {
		if !filepath.IsAbs(path) && !ofWindows.MatchString(path) || notShells[nameOf(path)] || !s.Runs(path) {
			return
		}
		if slices.ContainsFunc(found.Shells, func(other Shell) bool { return other.Path == path }) {
			return
		}
		shell := shellAt(path, s.Platform, source)
		if slices.ContainsFunc(found.Shells, func(other Shell) bool { return other.ID == shell.ID }) {
			shell.ID = path // another of the name
		}
		found.Shells = append(found.Shells, shell)
	}
	names, fromEnv := []string{"bash", "sh"}, "SHELL"
	if s.Platform == "windows" {
		names, fromEnv = []string{"pwsh", "powershell", "cmd"}, "COMSPEC"
	}
	add(s.Getenv(fromEnv), sourceEnv)
	for line := range strings.Lines(string(s.Listed)) {
		add(strings.TrimSpace(line), sourceListed)
	}
	for _, name := range names {
		if path, ok := s.Find(name); ok {
			add(path, sourceFallback)
		}
	}
	if len(found.Shells) > 0 {
		found.Default = &found.Shells[0].ID
	}
	return found
}

// notShells are programs that /etc/shells lists, and that run no commands.
var notShells = map[string]bool{"nologin": true, "false": true, "true": true, "sync": true, "git-shell": true, "tmux": true, "screen": true, "": true}

// nameOf returns what a program is called, whatever its system is.
func nameOf(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(name), ".exe")
}

// shellAt describes a shell by its name.
func shellAt(path, platform, source string) Shell {
	name := nameOf(path)
	s := Shell{ID: name, Label: name, Path: path, Platform: platform, Available: true, Source: source}
	switch name {
	case "cmd":
		s.Args, s.LoginArgs = []string{"/C"}, []string{"/C"}
	case "pwsh", "powershell":
		s.Args, s.LoginArgs = []string{"-NoProfile", "-Command"}, []string{"-NoProfile", "-Command"}
	case "csh", "tcsh": // they take -l alone
		s.Interactive, s.Args, s.LoginArgs = true, []string{"-c"}, []string{"-c"}
	default:
		s.Login, s.Interactive, s.Args, s.LoginArgs = true, true, []string{"-c"}, []string{"-l", "-c"}
	}
	return s
}

// find returns a shell by its id; nil for none.
func (l *Shells) find(id string) *Shell {
	i := slices.IndexFunc(l.Shells, func(s Shell) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &l.Shells[i]
}

// invocationRequest is what shell_invocation takes: a shell, or the id of one.
type invocationRequest struct {
	ShellID     string  `json:"shell_id,omitzero"`
	Shell       *Shell  `json:"shell,omitzero"`
	Command     *string `json:"command,omitzero"`
	Login       bool    `json:"login,omitzero"`
	Interactive bool    `json:"interactive,omitzero"`
}

// invoke returns how a shell runs a command.
func invoke(s *Shell, r *invocationRequest) (Invocation, error) {
	args := s.Args
	switch {
	case r.Login && !s.Login:
		return Invocation{}, fmt.Errorf("the shell %q does not run as a login shell", s.ID)
	case r.Interactive && !s.Interactive:
		return Invocation{}, fmt.Errorf("the shell %q runs no command interactively", s.ID)
	case r.Login:
		args = s.LoginArgs
	}
	args = slices.Clone(args)
	if r.Interactive {
		args = slices.Insert(args, 0, "-i")
	}
	i := Invocation{Program: s.Path, Args: args, Index: len(args), Shell: *s}
	if r.Command != nil {
		i.Args = append(i.Args, *r.Command)
	}
	return i, nil
}

// writtenShell is a shell as clients write it.
type writtenShell struct {
	ID          string   `json:"id"`
	Label       string   `json:"label"`
	Path        string   `json:"path"`
	Platform    string   `json:"platform"`
	Available   *bool    `json:"available"`
	Login       *bool    `json:"supports_login"`
	Interactive *bool    `json:"supports_interactive"`
	Args        []string `json:"default_args"`
	LoginArgs   []string `json:"login_args"`
	Source      string   `json:"source"`
}

// whole is the shell with all members: what the client has left out is what a shell of the name has.
func (w *writtenShell) whole() (Shell, error) {
	if w.ID == "" && w.Path == "" {
		return Shell{}, fmt.Errorf("a shell has neither an id nor a path")
	}
	s := shellAt(cmp.Or(w.Path, w.ID), w.Platform, sourceHost)
	s.ID, s.Label, s.Path = cmp.Or(w.ID, s.ID), cmp.Or(w.Label, w.ID, s.Label), cmp.Or(w.Path, w.ID)
	if slices.Contains(sources, w.Source) {
		s.Source = w.Source
	}
	for _, set := range []struct{ to, from *bool }{{&s.Available, w.Available}, {&s.Login, w.Login}, {&s.Interactive, w.Interactive}} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	if w.Args != nil {
		s.Args = w.Args
	}
	if w.LoginArgs != nil {
		s.LoginArgs = w.LoginArgs
	}
	return s, nil
}

// The most shells that a client lists.
const maxShells = 256

// readShells reads a client's answer to process.list_shells.
func readShells(answer jsontext.Value) (any, error) {
	var w struct {
		Shells  []writtenShell `json:"shells"`
		Default *string        `json:"default_shell_id"`
	}
	if answer.Kind() != '{' {
		return nil, fmt.Errorf("it is no object")
	}
	if err := json.Unmarshal(answer, &w); err != nil {
		return nil, err
	}
	if len(w.Shells) > maxShells {
		return nil, fmt.Errorf("it lists more than %d shells", maxShells)
	}
	list := Shells{Shells: []Shell{}, Default: w.Default}
	for i := range w.Shells {
		s, err := w.Shells[i].whole()
		if err != nil {
			return nil, err
		}
		list.Shells = append(list.Shells, s)
	}
	return list, nil
}

// readShell reads one shell of a client's: null for none.
func readShell(answer jsontext.Value) (any, error) {
	if answer.Kind() == 'n' || len(answer) == 0 {
		return nil, nil
	}
	var w writtenShell
	if err := json.Unmarshal(answer, &w); err != nil {
		return nil, err
	}
	return w.whole()
}

// readInvocation reads a client's answer to process.shell_invocation.
func readInvocation(answer jsontext.Value) (any, error) {
	var w struct {
		Program string       `json:"program"`
		Args    []string     `json:"args"`
		Index   int          `json:"command_arg_index"`
		Shell   writtenShell `json:"shell"`
	}
	if err := json.Unmarshal(answer, &w); err != nil {
		return nil, err
	}
	switch {
	case w.Program == "":
		return nil, fmt.Errorf("it names no program")
	case w.Index < 0 || w.Index > len(w.Args):
		return nil, fmt.Errorf("command_arg_index is outside of args")
	}
	w.Shell.Path = cmp.Or(w.Shell.Path, w.Program)
	s, err := w.Shell.whole()
	return Invocation{Program: w.Program, Args: append([]string{}, w.Args...), Index: w.Index, Shell: s}, err
}
