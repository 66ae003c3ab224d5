package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// settingFlags are the flags of commands that read the configuration.
type settingFlags struct {
	file  string
	set   map[string]string
	flags *pflag.FlagSet
}

// named maps the flags that stand for a setting to it.
func (*settingFlags) named() map[string]string {
	return map[string]string{"listen": "listen", "data": "data", "public-url": "public_url",
		"log-level": "log.level", "log-format": "log.format"}
}

func (s *settingFlags) register(flags *pflag.FlagSet) {
	s.flags = flags
	flags.StringVar(&s.file, "config", "", "configuration file (or WHARF_CONFIG; default wharf.yaml, if it exists)")
	flags.StringToStringVar(&s.set, "set", nil, "any setting, as NAME=VALUE: --set limits.body=64MiB")
	flags.String("listen", "", "address to listen on, HOST:PORT (default 127.0.0.1:8080)")
	flags.String("data", "", "data folder (default ./wharf-data)")
	flags.String("public-url", "", "URL that clients reach the node by")
	flags.String("log-level", "", "debug, info, warn or error (default info)")
	flags.String("log-format", "", "auto, text or json (default auto: text on a terminal)")
}

// load reads the configuration from all of its sources.
func (s *settingFlags) load(a *app) (*config.Effective, error) {
	given := map[string]string{}
	for flag, setting := range s.named() {
		if f := s.flags.Lookup(flag); f.Changed {
			given[setting] = f.Value.String()
		}
	}
	return loadConfig(config.Sources{
		File: cmp.Or(s.file, a.env("WHARF_CONFIG")), Environ: a.environ, Set: s.set, Flags: given,
	})
}

// loadConfig reads the configuration. A file that is not there is the user's
// mistake too.
func loadConfig(s config.Sources) (*config.Effective, error) {
	eff, err := config.Load(s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, advise(&usageError{fmt.Errorf("there is no configuration file %s", s.File)}, "wharf config init > "+s.File+", which writes one with all settings")
	}
	if err != nil {
		return nil, &usageError{err}
	}
	return eff, nil
}

func (a *app) configCommand() *cobra.Command {
	return family(page{
		use:   "config",
		short: "Check, show or start a configuration",
		long: `A node needs no configuration. Where one is wanted, a value comes from the
first of these that states it: a flag of "wharf serve", an environment variable
(WHARF_LIMITS_BODY for limits.body), the file, the default.`,
		example: `  wharf config init > wharf.yaml
  wharf config check wharf.yaml
  WHARF_LOG_LEVEL=debug wharf config show`,
	}, a.configCheckCommand(), a.configShowCommand(), a.configInitCommand())
}

func (a *app) configCheckCommand() *cobra.Command {
	return page{
		use:   "check [FILE]",
		short: "Check a configuration file and the environment",
		long: `Check reads FILE, or else the file that "wharf serve" would read, together with
the environment, and reports everything that is wrong with it, each with its
line. It ends with code 0 when nothing is and 2 otherwise. Nothing is started.`,
		example: "  wharf config check\n  wharf config check /etc/wharf.yaml",
		args:    optionalArg,
	}.command(func(_ *cobra.Command, args []string) error {
		file := a.env("WHARF_CONFIG")
		if len(args) == 1 {
			file = args[0]
		}
		eff, err := loadConfig(config.Sources{File: file, Environ: a.environ})
		if err != nil {
			return err
		}
		return a.configChecked(eff)
	})
}

func (a *app) configChecked(eff *config.Effective) error {
	checked := struct {
		OK       bool     `json:"ok"`
		File     string   `json:"file,omitzero"`
		Unknown  []string `json:"unknown_variables,omitzero"`
		Warnings []string `json:"warnings,omitzero"`
	}{true, eff.File, eff.Unknown, eff.Warnings}
	return a.print(checked, func() {
		for _, name := range eff.Unknown {
			a.out.Line(a.out.Paint(show.Yellow, "note: "), "the variable ", name, " is set, but is no setting of Wharf")
		}
		for _, warning := range eff.Warnings {
			a.out.Line(a.out.Paint(show.Yellow, "note: "), warning)
		}
		if eff.File == "" {
			a.out.Line("ok: there is no file; the defaults and the environment are sound")
			return
		}
		a.out.Line("ok: ", eff.File, " and the environment are sound")
	})
}

func (a *app) configShowCommand() *cobra.Command {
	var s settingFlags
	cmd := page{
		use:   "show",
		short: "Show every setting as it holds, and where its value came from",
		long: `Show prints the configuration that "wharf serve" would run with, given the same
flags, environment and folder: each setting, its value, and where that came
from.`,
		example: `  wharf config show
  wharf config show --config /etc/wharf.yaml --json`,
	}.command(func(*cobra.Command, []string) error {
		eff, err := s.load(a)
		if err != nil {
			return err
		}
		return a.configShow(eff)
	})
	s.register(cmd.Flags())
	return cmd
}

// shownValue is an effective value as JSON.
type shownValue struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

func (a *app) configShow(eff *config.Effective) error {
	return a.printRows([]string{"SETTING", "VALUE", "FROM"}, "", func(yield func(any, []show.Cell) bool) {
		for _, v := range eff.Values {
			origin := show.Cell{Text: v.Origin, Style: show.Cyan}
			if v.Origin == "default" {
				origin.Style = show.Dim
			}
			row := []show.Cell{{Text: v.Setting.Name}, {Text: cmp.Or(v.Text, `""`), Style: show.Bold}, origin}
			if !yield(shownValue{v.Setting.Name, v.Text, v.Origin}, row) {
				return
			}
		}
	})
}

func (a *app) configInitCommand() *cobra.Command {
	return page{
		use:   "init",
		short: "Print a complete, commented configuration file",
		long: `Init prints a wharf.yaml with every setting, what it does, what values it takes
and its default, all commented out.`,
		example: "  wharf config init > wharf.yaml",
	}.command(func(*cobra.Command, []string) error {
		a.out.Printf("%s", config.Template())
		return nil
	})
}
