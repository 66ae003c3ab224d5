package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

const anArtifact = "the id of an Artifact (see \"wharf artifact list\")"

// maxOnTerminal is the largest content that is shown on a terminal.
const maxOnTerminal = 1 << 20

func (a *app) artifactCommand() *cobra.Command {
	return family(page{
		use:   "artifact",
		short: "List Artifacts, and get what is in them",
		long: `An Artifact is content that Messages and Outcomes refer to: what was uploaded with a
Task, and what its plugin has made.`,
		example: `  wharf artifact list --task task_01K0...
  wharf artifact get art_01K0...
  wharf artifact get art_01K0... --output report.pdf`,
	}, a.artifactListCommand(), a.artifactShowCommand(), a.artifactGetCommand(), a.artifactAddCommand(), a.artifactDeleteCommand())
}

func (a *app) artifactListCommand() *cobra.Command {
	var workspace, session, task string
	var limit int
	return a.node(page{
		use:   "list",
		short: "List Artifacts, newest first",
		long: `List shows Artifacts, newest first: at most --limit of them, of the given Task, Session
and Workspace.`,
		example: "  wharf artifact list\n  wharf artifact list --task task_01K0... --json",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&task, "task", "", "only Artifacts of this Task")
			f.StringVar(&session, "session", "", "only Artifacts of this Session")
			f.StringVar(&workspace, "workspace", "", "only Artifacts of this Workspace")
			f.IntVar(&limit, "limit", 20, "the most Artifacts to show")
		},
		check: func(*cobra.Command, []string) error {
			if limit < 1 {
				return usagef("--limit: %d is less than 1", limit)
			}
			return nil
		},
	}, list[abi.Artifact]{
		call: sends(func([]string) client.Call {
			return client.Get("/v1/artifacts").Narrow("task_id", task).Narrow("session_id", session).Narrow("workspace_id", workspace).Most(limit)
		}),
		titles: []string{"ARTIFACT", "NAME", "MEDIA TYPE", "SIZE", "TASK", "MADE"},
		row: func(r *abi.Artifact) []show.Cell {
			return []show.Cell{{Text: r.ID}, {Text: show.OneLine(r.Name)}, {Text: show.OneLine(r.MimeType)}, {Text: sizeOf(r)}, {Text: r.TaskID}, {Text: show.Ago(r.CreatedAt, time.Now())}}
		},
		none: "no artifacts",
	})
}

// sizeOf says how large the content of an Artifact is, "" where the node does not hold it.
func sizeOf(r *abi.Artifact) string {
	if r.SizeBytes == nil {
		return ""
	}
	return show.Bytes(*r.SizeBytes)
}

func (a *app) artifactShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show what an Artifact is",
		long:    "Show tells what an Artifact is and where it belongs, without its content.",
		example: "  wharf artifact show art_01K0...\n  wharf artifact show art_01K0... --json",
		args:    oneArg(anArtifact),
	}, ask[abi.Artifact]{call: gets("/v1/artifacts/{}"), tips: absent("wharf artifact list"), text: a.showArtifact})
}

func (a *app) showArtifact(r *abi.Artifact) {
	pairs := [][2]string{{"name", show.OneLine(r.Name)}, {"kind", string(r.Kind)}, {"media type", show.OneLine(r.MimeType)}, {"size", sizeOf(r)}}
	if r.SHA256 != nil {
		pairs = append(pairs, [2]string{"sha256", *r.SHA256})
	}
	if r.URI != nil {
		pairs = append(pairs, [2]string{"content", show.OneLine(*r.URI)})
	}
	a.out.Line(r.ID)
	a.out.Pairs(append(pairs, [][2]string{{"visibility", string(r.Visibility)}, {"task", r.TaskID}, {"session", r.SessionID}, {"workspace", r.WorkspaceID},
		{"made", stamp(r.CreatedAt)}}...)...)
}

func (a *app) artifactGetCommand() *cobra.Command {
	var file string
	return a.node(page{
		use:   "get ID",
		short: "Get the content of an Artifact",
		long: `Get writes the content of an Artifact to standard output, or to the file that
--output names, which is not there before it is complete. On a terminal it shows text
alone, of up to 1 MiB, without what could steer the terminal.`,
		example: "  wharf artifact get art_01K0...\n  wharf artifact get art_01K0... --output report.pdf\n  wharf artifact get art_01K0... | jq .",
		args:    oneArg(anArtifact),
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&file, "output", "o", "", "the file to write (default: standard output)")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		return hint(a.getArtifact(ctx, c, args[0], file), abi.CodeResourceNotFound, "wharf artifact list")
	}))
}

func (a *app) getArtifact(ctx context.Context, c *client.Client, id, file string) error {
	content, err := c.Download(ctx, client.Get("/v1/artifacts/{}/content", id).Patiently())
	if err != nil {
		return err
	}
	defer content.Close()
	switch {
	case file != "":
		return a.keepArtifact(id, file, content)
	case a.out.Terminal():
		return a.showContent(id, self()+" artifact get "+id+" --output FILE", content)
	}
	if _, err := io.Copy(a.stdout, content); err != nil {
		return fmt.Errorf("the content of %s is not complete: %w", id, err)
	}
	return nil
}

func (a *app) artifactAddCommand() *cobra.Command {
	var workspace, session, task, name, media string
	return a.node(page{
		use:   "add FILE",
		short: "Store a file as an Artifact",
		long: `Add stores a file ("-" for standard input) as an Artifact, which Messages can refer to. It
belongs to a Session or a Workspace.`,
		example: "  wharf artifact add report.pdf --workspace ws_default\n  wharf artifact add - --session sess_01K0... --name notes.txt --media-type text/plain",
		args:    oneArg("a file"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&workspace, "workspace", "", "the Workspace that it is of (default the first that the key sees)")
			f.StringVar(&session, "session", "", "the Session that it is of")
			f.StringVar(&task, "task", "", "the Task that it is of")
			f.StringVar(&name, "name", "", "what it is called (default the file's name)")
			f.StringVar(&media, "media-type", "", "what it is (default by the file's name)")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) (err error) {
		in, size := a.stdin, int64(0)
		if args[0] != "-" {
			f, info, err := openRegular(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			in, size, name = f, info.Size(), cmp.Or(name, info.Name())
		}
		if session == "" && task == "" {
			if workspace, err = workspaceOr(ctx, c, workspace); err != nil {
				return err
			}
		}
		doc, err := c.UploadArtifact(ctx, client.Upload{Name: name, MimeType: cmp.Or(media, mimeType(name)), WorkspaceID: workspace, SessionID: session, TaskID: task, Content: in, Size: size})
		if err != nil {
			return err
		}
		return a.print(doc.JSON, func() { a.showArtifact(&doc.Value) })
	}))
}

// keptArtifact is what was written, as JSON.
type keptArtifact struct {
	ArtifactID string `json:"artifact_id"`
	File       string `json:"file"`
	Bytes      int64  `json:"bytes"`
}

func (a *app) keepArtifact(id, file string, content io.Reader) error {
	before := replaced(file)
	if err := writeWhole(file, content); err != nil {
		return fmt.Errorf("writing the content of %s: %w", id, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("looking at what was written: %w", err)
	}
	return a.print(keptArtifact{id, file, info.Size()}, func() { a.out.Line(file, "  ", show.Bytes(info.Size()), before) })
}

// showContent shows content on a terminal, which must not be steered by it.
func (a *app) showContent(id, elsewhere string, content io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(content, maxOnTerminal+1))
	if err != nil {
		return fmt.Errorf("the content of %s is not complete: %w", id, err)
	}
	switch {
	case len(text) > maxOnTerminal:
		return advise(fmt.Errorf("the content of %s has more than %s", id, show.Bytes(maxOnTerminal)), elsewhere)
	case !utf8.Valid(text), bytes.IndexByte(text, 0) >= 0:
		return advise(fmt.Errorf("the content of %s is no text", id), elsewhere)
	}
	shown := show.Clean(string(text))
	if shown != "" && shown[len(shown)-1] != '\n' {
		shown += "\n"
	}
	_, err = io.WriteString(a.stdout, shown)
	return err
}
