package localtools

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Command is how a tool server is started.
type Command struct {
	Name string // for people
	Path string // absolute, or a name that is looked for where the shell would
	Args []string
	Env  map[string]string
}

// written is an entry of mcpServers. One without a type is a command.
type written struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Env     []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
}

// Parse takes the commands out of mcpServers, as clients write them; rest are the entries that are none. The error
// says of which entry it is, and nothing of its environment.
func Parse(servers []jsontext.Value) (commands []Command, rest []jsontext.Value, err error) {
	for i, entry := range servers {
		var of struct {
			Type jsontext.Value `json:"type"`
		}
		if err := json.Unmarshal(entry, &of); err != nil {
			return nil, nil, fmt.Errorf("mcpServers.%d is no tool server", i)
		}
		if of.Type != nil && of.Type.Kind() != 'n' && string(of.Type) != `"stdio"` {
			rest = append(rest, entry)
			continue
		}
		var w written
		if err := json.Unmarshal(entry, &w); err != nil {
			return nil, nil, fmt.Errorf("mcpServers.%d is no tool server: a member is missing, or of another type", i)
		}
		c, err := w.command()
		if err != nil {
			return nil, nil, fmt.Errorf("mcpServers.%d: %w", i, err)
		}
		commands = append(commands, c)
	}
	return commands, rest, nil
}

func (w *written) command() (c Command, err error) {
	switch {
	case w.Name == "":
		return c, fmt.Errorf("the tool server has no name")
	case w.Command == "":
		return c, fmt.Errorf("the tool server %q has no command", w.Name)
	case strings.ContainsRune(w.Command+strings.Join(w.Args, ""), 0):
		return c, fmt.Errorf("the command of %q has a zero byte", w.Name)
	case !filepath.IsAbs(w.Command) && filepath.Base(w.Command) != w.Command:
		return c, fmt.Errorf("the command of %q is neither an absolute path nor the name of a program: %q", w.Name, w.Command)
	}
	c = Command{Name: w.Name, Path: w.Command, Args: w.Args, Env: map[string]string{}}
	for _, v := range w.Env {
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") || strings.ContainsRune(v.Value, 0) {
			return c, fmt.Errorf("a variable of the environment of %q has no name, or one with = in it, or a zero byte", w.Name)
		}
		c.Env[v.Name] = v.Value
	}
	return c, nil
}
