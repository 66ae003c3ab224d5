package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// files is where a node has those of a Workspace.
const files = "/v1/workspaces/{}/files"

const aFile = aWorkspace + " and the path of a file in it"

func (a *app) fileCommand() *cobra.Command {
	return family(page{
		use:   "file",
		short: "List, get, put and remove the files of Workspaces",
		long: `A Workspace has files, which its Tasks read and write as their Personas allow.
docs/workspaces.md has the rest.`,
		example: `  wharf file list ws_default
  wharf file put ws_default notes/today.md --file today.md
  wharf file get ws_default notes/today.md`,
	}, a.fileListCommand(), a.fileGetCommand(), a.filePutCommand(), a.fileRemoveCommand())
}

func (a *app) fileListCommand() *cobra.Command {
	return a.node(page{
		use:     "list WORKSPACE [FOLDER]",
		short:   "List the files of a Workspace, or of a folder in it",
		long:    "List shows what is in a folder of a Workspace, at first in its root. The name of a folder\nends in a slash.",
		example: "  wharf file list ws_default\n  wharf file list ws_default notes --json",
		args:    oneOrTwoArgs(aWorkspace + ", and a folder in it if you like"),
	}, list[abi.File]{
		call: sends(func(args []string) client.Call {
			folder := ""
			if len(args) == 2 && args[1] != "/" {
				folder = strings.TrimSuffix(args[1], "/") + "/"
			}
			return client.Get(files, args[0]).Narrow("path", folder)
		}),
		titles: []string{"SIZE", "CHANGED", "PATH"},
		row: func(f *abi.File) []show.Cell {
			if f.Object == "folder" {
				return []show.Cell{{}, {}, {Text: strings.TrimSuffix(f.Path, "/") + "/"}}
			}
			return []show.Cell{{Text: show.Bytes(f.Size)}, {Text: show.Ago(f.UpdatedAt, time.Now())}, {Text: f.Path}}
		},
		none: "no files",
		tips: absent("wharf file list {}, or wharf workspace list"),
	})
}

func (a *app) fileGetCommand() *cobra.Command {
	var output string
	return a.node(page{
		use:   "get WORKSPACE PATH",
		short: "Get a file of a Workspace",
		long: `Get writes a file to standard output, or to the file that --output names, which is not
there before it is complete. On a terminal it shows text alone, of up to 1 MiB, without
what could steer the terminal.`,
		example: "  wharf file get ws_default notes/today.md\n  wharf file get ws_default logo.png --output logo.png",
		args:    twoArgs(aFile),
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&output, "output", "o", "", "the file to write (default: standard output)")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		if args[1] == "" || strings.HasSuffix(args[1], "/") {
			return advise(usagef("%q is a folder", args[1]), "wharf file list "+args[0]+" "+args[1])
		}
		content, err := c.Download(ctx, client.Get(files, args[0]).Narrow("path", args[1]).Patiently())
		if err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf file list "+args[0])
		}
		defer content.Close()
		switch {
		case output != "":
			return a.keepFile(args[1], output, content)
		case a.out.Terminal():
			return a.showContent(args[1], self()+" file get "+args[0]+" "+args[1]+" --output FILE", content)
		}
		if _, err := io.Copy(a.stdout, content); err != nil {
			return fmt.Errorf("the content of %s is not complete: %w", args[1], err)
		}
		return nil
	}))
}

// keptFile is what was written, as JSON.
type keptFile struct {
	Path  string `json:"path"`
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func (a *app) keepFile(path, file string, content io.Reader) error {
	if err := writeWhole(file, content); err != nil {
		return fmt.Errorf("writing the content of %s: %w", path, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("looking at what was written: %w", err)
	}
	return a.print(keptFile{path, file, info.Size()}, func() { a.out.Line(file, "  ", show.Bytes(info.Size())) })
}

func (a *app) filePutCommand() *cobra.Command {
	var from string
	return a.node(page{
		use:     "put WORKSPACE PATH",
		short:   "Write a file of a Workspace",
		long:    "Put writes a file, and the folders that it is in: what --file names, or else standard input.\nWhat was there before is replaced.",
		example: "  wharf file put ws_default notes/today.md --file today.md\n  date | wharf file put ws_default now.txt",
		args:    twoArgs(aFile),
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&from, "file", "f", "-", "the file to send, - for standard input")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		in, size := a.stdin, int64(0)
		if from != "-" {
			f, info, err := openRegular(from)
			if err != nil {
				return err
			}
			defer f.Close()
			in, size = f, info.Size()
		}
		doc, err := client.UploadBytes[abi.File](ctx, c, client.Put(nil, files, args[0]).Narrow("path", args[1]), in, size)
		if err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf workspace list")
		}
		return a.print(doc.JSON, func() { a.out.Line(doc.Value.Path, "  ", show.Bytes(doc.Value.Size)) })
	}))
}

// openRegular opens a file whose size is known.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the file: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (a *app) fileRemoveCommand() *cobra.Command {
	return a.node(page{
		use:     "rm WORKSPACE PATH",
		short:   "Remove a file of a Workspace",
		long:    "Rm removes a file. What Tasks have read of it stays in what they have recorded.",
		example: "  wharf file rm ws_default notes/today.md",
		args:    twoArgs(aFile),
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		if err := c.Send(ctx, client.Delete(files, args[0]).Narrow("path", args[1])); err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf file list "+args[0])
		}
		if !a.json {
			a.out.Line(args[1], " is removed")
		}
		return nil
	}))
}
