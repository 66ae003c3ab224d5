package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/parcel"
)

func (a *app) pluginPackageCommand() *cobra.Command {
	var file, key string
	cmd := page{
		use:   "package [FOLDER|FILE]",
		short: "Pack a plugin into one file, and sign it",
		long: `Package packs a built plugin into one file: its wharf.toml, the module and the JSON
Schemas that this names, and README.md, LICENSE and NOTICE if they are there. It
checks them first, as "wharf plugin lint" does. The same files make the same
bytes on any machine, and the digest that it prints is the package's, whoever
signs it.

--sign adds the signature of a key that "wharf plugin key new" has made. In place
of a folder a package can be named, which is signed as it is.

The exit code is 0 when the package was written, 1 when something is wrong with
the plugin, and 2 when it cannot be read.`,
		example: `  wharf plugin package
  wharf plugin package my-plugin -o my-plugin.wharf --sign my.key
  wharf plugin package triage-1.2.0.wharf --sign my.key`,
		args: optionalArg,
	}.command(func(cmd *cobra.Command, args []string) error {
		path := "."
		if len(args) > 0 {
			path = args[0]
		}
		return undecided(a.packPlugin(cmd.Context(), path, file, key))
	})
	cmd.Flags().StringVarP(&file, "output", "o", "", "the file to write (default: NAME-VERSION.wharf in the current folder; a package that is signed replaces itself)")
	cmd.Flags().StringVar(&key, "sign", "", "the file of a key to sign with")
	return cmd
}

// packedPlugin is a package as JSON.
type packedPlugin struct {
	File       string         `json:"file"`
	Name       string         `json:"name"`
	Version    string         `json:"version"`
	Kind       manifest.Kind  `json:"kind"`
	Digest     string         `json:"digest"`
	Bytes      int            `json:"bytes"` // of the file
	Files      []parcel.Entry `json:"files"`
	Signatures []string       `json:"signatures"` // the ids of the keys
}

func describe(file string, size int, p *parcel.Package) packedPlugin {
	d := packedPlugin{File: file, Name: p.Manifest.Name, Version: p.Manifest.Version, Kind: p.Manifest.Kind,
		Digest: p.Digest, Bytes: size, Files: p.Entries(), Signatures: []string{}}
	for _, s := range p.Signatures {
		d.Signatures = append(d.Signatures, s.KeyID)
	}
	return d
}

func (a *app) packPlugin(ctx context.Context, path, file, key string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("reading the plugin: %w", err)
	}
	var p *parcel.Package
	if info.IsDir() {
		p, err = a.packFolder(ctx, path)
	} else {
		p, err = openPackage(path)
		file = cmp.Or(file, path)
	}
	if err != nil {
		return err
	}
	if key != "" {
		signer, _, err := parcel.ReadKey(key)
		if err != nil {
			return advise(err, self()+" plugin key new FILE, which makes one")
		}
		p.Sign(signer)
	} else if !info.IsDir() {
		return usagef("%s is a package already: --sign signs it", path)
	}
	file = cmp.Or(file, p.Name())
	size, err := writePackage(file, p)
	if err != nil {
		return err
	}
	d := describe(file, size, p)
	return a.print(d, func() {
		a.showPacked(d)
		if len(d.Signatures) == 0 {
			a.out.Pairs([2]string{"sign it", self() + " plugin package " + show.OneLine(file) + " --sign KEY"})
		}
		a.out.Pairs([2]string{"push it", self() + " plugin push REGISTRY/" + d.Name + ":" + d.Version + " " + show.OneLine(file)})
	})
}

// packFolder packs what lint finds nothing wrong with.
func (a *app) packFolder(ctx context.Context, path string) (_ *parcel.Package, err error) {
	l, err := lintAt(ctx, path)
	if err != nil {
		return nil, err
	}
	switch {
	case !l.Valid:
		if err := a.print(l, func() { a.showLinted(l) }); err != nil {
			return nil, err
		}
		return nil, &silentError{exitFailed}
	case !l.Built:
		return nil, fail(advise(fmt.Errorf("%s: the module %s is not there yet", show.OneLine(l.Path), show.OneLine(l.Module)), "build the plugin, then this again"))
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("reading the plugin: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	p, err := parcel.Pack(root)
	return p, refusedPackage(path, err)
}

// openPackage reads the package in a file. What is refused is the answer 1, and no failure to look.
func openPackage(path string) (*parcel.Package, error) {
	p, err := parcel.Open(path)
	return p, refusedPackage(path, err)
}

func refusedPackage(path string, err error) error {
	if _, ok := errors.AsType[*parcel.Refused](err); ok {
		return fail(fmt.Errorf("%s: %w", show.OneLine(path), err))
	}
	return err
}

// isPackage reports whether a file is a package, by what it begins with.
func isPackage(path string) (_ bool, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	first := make([]byte, 4)
	n, err := io.ReadFull(f, first)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return parcel.IsPackage(first[:n]), err
}

func writePackage(file string, p *parcel.Package) (size int, err error) {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return 0, err
	}
	size = b.Len()
	return size, writeWhole(file, &b)
}

func (a *app) showPacked(d packedPlugin) {
	a.out.Line(show.OneLine(d.File), "  ", show.Bytes(int64(d.Bytes)))
	a.out.Pairs([2]string{"plugin", string(d.Kind) + " " + d.Name + " " + d.Version}, [2]string{"digest", d.Digest},
		[2]string{"signed by", cmp.Or(strings.Join(d.Signatures, ", "), "nobody")})
	var rows [][]show.Cell
	for _, e := range d.Files {
		rows = append(rows, []show.Cell{{Text: e.Path, Style: show.Bold}, {Text: show.Bytes(e.Bytes)}})
	}
	a.out.Table([]string{"FILE", "SIZE"}, rows)
}
