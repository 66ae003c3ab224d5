package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, but %q is given", cmd.CommandPath(), args[0])
	}
	return nil
}

// oneArg wants exactly one argument; what names it.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usagef("%s needs %s", cmd.CommandPath(), what)
		case len(args) > 1:
			return usagef("%s takes one argument, but %d are given: put text with spaces between quotes (%s)",
				cmd.CommandPath(), len(args), strings.Join(args, " "))
		}
		return nil
	}
}

// twoArgs wants exactly two arguments; what names them.
func twoArgs(what string) cobra.PositionalArgs { return exactly(2, what) }

// threeArgs wants exactly three arguments; what names them.
func threeArgs(what string) cobra.PositionalArgs { return exactly(3, what) }

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s needs %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// someArgs wants at least one argument; what names them.
func someArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s needs %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// oneOrTwoArgs wants one argument or two; what names them.
func oneOrTwoArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 && len(args) != 2 {
			return usagef("%s needs %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// optionalArg allows one argument or none.
func optionalArg(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return oneArg("")(cmd, args)
	}
	return nil
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
