package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
)

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := usagef("%s takes no argument, but %q is given", cmd.CommandPath(), args[0])
	if f := cmd.Flags().Lookup("file"); f != nil && f.Shorthand != "" && !f.Changed {
		return advise(err, "-"+f.Shorthand+" "+args[0])
	}
	return meantForFlag(cmd, args, err)
}

// oneArg wants exactly one argument; what names it.
func oneArg(what string) cobra.PositionalArgs { return between(1, 1, what) }

// twoArgs wants exactly two arguments; what names them.
func twoArgs(what string) cobra.PositionalArgs { return between(2, 2, what) }

// threeArgs wants exactly three arguments; what names them.
func threeArgs(what string) cobra.PositionalArgs { return between(3, 3, what) }

// someArgs wants at least one argument; what names them.
func someArgs(what string) cobra.PositionalArgs { return between(1, anyNumber, what) }

// oneOrTwoArgs wants one argument or two; what names them.
func oneOrTwoArgs(what string) cobra.PositionalArgs { return between(1, 2, what) }

// optionalArg allows one argument or none.
func optionalArg(cmd *cobra.Command, args []string) error { return between(0, 1, "")(cmd, args) }

// anyNumber is how many arguments a command takes that takes as many as there are.
const anyNumber = 1 << 20

// between wants so many arguments; what names those that there have to be.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && least > 0:
			return usagef("%s needs %s", cmd.CommandPath(), what)
		case len(args) < least:
			return usagef("%s needs %s, but only %q is given", cmd.CommandPath(), what, strings.Join(args, " "))
		case len(args) > most:
			err := usagef("%s takes %s, but %d are given: put text with spaces between quotes (%s)",
				cmd.CommandPath(), argumentCount(most), len(args), strings.Join(args, " "))
			return meantForFlag(cmd, args, err)
		}
		return nil
	}
}

func argumentCount(n int) string {
	words := []string{"no argument", "one argument", "two arguments", "three arguments"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n, " arguments")
}

// meantForFlag advises who has put a space between a flag and its value, where there has to be an =, for
// the flag can also be given alone.
func meantForFlag(cmd *cobra.Command, args []string, err error) error {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal == "" || f.Value.String() != f.NoOptDefVal || f.Value.Type() == "bool" {
			return
		}
		before := f.Value.String()
		if f.Value.Set(args[0]) == nil {
			err = advise(err, "--"+f.Name+"="+args[0]+", with = before the value")
		}
		_ = f.Value.Set(before) // which it had
	})
	return err
}

// wrongFlag says of a flag that there is not which may have been meant: another of the command, or a
// setting of the node, which is given with --set.
func wrongFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || len(unknown.GetSpecifiedName()) < 2 {
		return &usageError{err}
	}
	name := unknown.GetSpecifiedName()
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if cmd.Flags().Lookup("set") != nil {
		for _, s := range config.Settings() {
			if strings.NewReplacer(".", "-", "_", "-").Replace(s.Name) == name || s.Name == name {
				return advise(&usageError{err}, "--set "+s.Name+"=VALUE")
			}
		}
	}
	if near := plainly.Nearest(name, slices.Values(names)); near != "" {
		return advise(&usageError{err}, "--"+near)
	}
	return &usageError{err}
}

// family makes a command that only holds others. Without one of them it shows
// its help, and a word that is none of them is a mistake.
func family(p page, members ...*cobra.Command) *cobra.Command {
	cmd := p.command(func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(members...)
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		err := usagef("%s has no command %q", cmd.CommandPath(), args[0])
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			err = advise(err, cmd.CommandPath()+" "+near[0])
		}
		return err
	}
	cmd.DisableFlagsInUseLine = true
	return cmd
}
