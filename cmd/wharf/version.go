package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// build says what this program was built from.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitzero"`
	Modified bool   `json:"modified,omitzero"` // the tree had changes that no commit has
	Time     string `json:"commit_time,omitzero"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Protocol string `json:"protocol_version"`
	Rewriter string `json:"rewriter"` // what modules are rewritten by: Tasks and receipts name it
}

func thisBuild() build {
	b := build{
		Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Protocol: abi.ProtocolVersion, Rewriter: rewrite.Version,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "vcs.time":
			b.Time = s.Value
		}
	}
	return b
}

func (a *app) versionCommand() *cobra.Command {
	return page{
		use:   "version",
		short: "Print the version of this program and of the protocol it speaks",
		long: `Version prints what this program was built from: its version, the commit, the
Go release and platform, the one version of the Harn Agents Protocol that it
speaks, and the version of the rewriter that its plugins go through.`,
		example: "  wharf version\n  wharf version --json",
	}.command(func(*cobra.Command, []string) error {
		return a.printVersion(thisBuild())
	})
}

func (a *app) printVersion(b build) error {
	return a.print(b, func() {
		commit := b.Commit
		if b.Modified {
			commit += " and changes on top of it"
		}
		a.out.Line("wharf ", b.Version)
		a.out.Pairs([2]string{"commit", commit}, [2]string{"go", b.Go + ", " + b.Platform}, [2]string{"protocol", b.Protocol}, [2]string{"rewriter", b.Rewriter})
	})
}
