package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/parcel/registry"
)

// aReference is what an argument has to be that names an artefact.
const aReference = "a reference, such as registry.example.com/plugins/triage:1.2.0"

// registryFlags say how a registry is spoken to.
type registryFlags struct {
	plainHTTP, passwordStdin bool
	user                     string
	flags                    *pflag.FlagSet
}

func (r *registryFlags) register(f *pflag.FlagSet) {
	r.flags = f
	f.BoolVar(&r.plainHTTP, "plain-http", false, "speak HTTP without TLS, which anybody on the way can read and change (default: only with a registry on this machine)")
	f.StringVar(&r.user, "user", "", "user of the registry (or WHARF_REGISTRY_USER; default: what \"docker login\" has kept)")
	f.BoolVar(&r.passwordStdin, "password-stdin", false, "read the user's password or token from standard input (or WHARF_REGISTRY_PASSWORD)")
}

// options returns how the registry of a reference is spoken to.
func (r *registryFlags) options(a *app, ref registry.Reference) (registry.Options, error) {
	o := registry.Options{PlainHTTP: ref.Loopback(), UserAgent: "wharf/" + thisBuild().Version, Progress: a.showMoved}
	if r.flags.Changed("plain-http") {
		o.PlainHTTP = r.plainHTTP
	}
	user, password := cmp.Or(r.user, a.env("WHARF_REGISTRY_USER")), a.env("WHARF_REGISTRY_PASSWORD")
	if r.passwordStdin {
		text, err := io.ReadAll(io.LimitReader(a.stdin, 64<<10))
		if err != nil {
			return o, fmt.Errorf("reading the password: %w", err)
		}
		password = strings.TrimRight(string(text), "\r\n")
	}
	if (user == "") != (password == "") {
		return o, usagef("a user and a password go together: --user NAME --password-stdin, or WHARF_REGISTRY_USER and WHARF_REGISTRY_PASSWORD")
	}
	o.Credential = registry.Credential{User: user, Password: password}
	return o, nil
}

// showMoved tells of a blob, where people look on.
func (a *app) showMoved(p registry.Progress) {
	if a.json {
		return
	}
	s := a.errorScreen()
	there := ""
	if p.There {
		there = "  (there already)"
	}
	s.Line(s.Paint(show.Dim, fmt.Sprintf("  %s  %s%s", show.OneLine(cmp.Or(p.Path, "what it is made of")), show.Bytes(p.Bytes), there)))
}

func (a *app) pluginPushCommand() *cobra.Command {
	var r registryFlags
	cmd := page{
		use:   "push REF FILE",
		short: "Bring a package to an OCI registry",
		long: `Push brings a package that "wharf plugin package" has made to an OCI registry, in
the layout that the CNCF has for WebAssembly: other tools find the module, and
Wharf finds all of the package. It prints the digest of the artefact, by which
nothing else can be pulled. The same package is the same artefact each time.

Credentials are those of "docker login", or of --user. A registry on this machine
is spoken to without TLS, others only with --plain-http.`,
		example: `  wharf plugin push registry.example.com/plugins/triage:1.2.0 triage-1.2.0.wharf
  wharf plugin push localhost:5000/triage:1.2.0 triage-1.2.0.wharf --json | jq -r .digest`,
		args: twoArgs(aReference + ", and a package"),
	}.command(func(cmd *cobra.Command, args []string) error {
		return undecided(a.pushPlugin(cmd.Context(), args[0], args[1], &r))
	})
	r.register(cmd.Flags())
	return cmd
}

// pushedPlugin is what was pushed, as JSON.
type pushedPlugin struct {
	Reference string `json:"reference"`
	Digest    string `json:"digest"`  // of the artefact
	Package   string `json:"package"` // the digest of the package
}

func (a *app) pushPlugin(ctx context.Context, reference, file string, r *registryFlags) error {
	ref, err := registry.ParseReference(reference)
	if err != nil {
		return usagef("%w", err)
	}
	p, err := openPackage(file)
	if err != nil {
		return err
	}
	o, err := r.options(a, ref)
	if err != nil {
		return err
	}
	pushed, err := registry.Push(ctx, ref, p, o)
	if err != nil {
		return registryFailed(err)
	}
	d := pushedPlugin{pushed.Reference, pushed.Digest, p.Digest}
	return a.print(d, func() {
		a.out.Line(d.Reference)
		a.out.Pairs([2]string{"digest", d.Digest}, [2]string{"package", d.Package}, [2]string{"pull it", self() + " plugin pull " + ref.At(d.Digest).String()})
	})
}

// registryFailed says what to do about an error of a registry.
func registryFailed(err error) error {
	failure, ok := errors.AsType[*registry.Failure](err)
	if !ok {
		if _, refused := errors.AsType[*parcel.Refused](err); refused {
			return fail(err)
		}
		return err
	}
	_, noRoute := errors.AsType[*net.OpError](err)
	_, asked := errors.AsType[*url.Error](err)
	switch {
	case failure.Denied:
		return advise(&peerError{failure.Error(), exitDenied}, "\"docker login\", or --user NAME --password-stdin")
	case failure.Absent:
		return advise(fail(failure), "the name and the tag as they were pushed")
	case strings.Contains(failure.Error(), "server gave HTTP response to HTTPS client"):
		return advise(&peerError{failure.Error(), exitUnreachable}, "--plain-http, if you trust everybody on the way to it")
	case noRoute || asked:
		return advise(&peerError{failure.Error(), exitUnreachable}, "the name of the registry, or again when it can be reached")
	}
	return failure
}

// pullFlags say what a pull takes, and where it puts it.
type pullFlags struct {
	registryFlags
	file, lock, config string
	trust              []string
	update             bool
}

func (a *app) pluginPullCommand() *cobra.Command {
	var p pullFlags
	cmd := page{
		use:   "pull REF",
		short: "Fetch a package from an OCI registry, and check it",
		long: `Pull fetches a package, checks every digest and signature of it, and writes it to a
file. Nothing is written before all of it is right.

What a reference stood for is kept in wharf.lock, and the next pull fetches that
and nothing else, whatever the registry says then: commit the file. --update takes
what the reference stands for now. A reference with a digest needs no lock.

With --trust, or with the setting plugins.trust, the package has to be signed by
one of the keys that are named there.

The exit code is 0 when the package was written, 1 when it was refused, and 2 when
it could not be fetched; 3 when the registry cannot be reached, 4 when it wants
other credentials.`,
		example: `  wharf plugin pull registry.example.com/plugins/triage:1.2.0
  wharf plugin pull localhost:5000/triage:1.2.0 -o triage.wharf --trust triage-keys.json
  wharf plugin pull registry.example.com/plugins/triage:1.2.0 --update`,
		args: oneArg(aReference),
	}.command(func(cmd *cobra.Command, args []string) error {
		return undecided(a.pullPlugin(cmd.Context(), args[0], &p))
	})
	f := cmd.Flags()
	p.register(f)
	f.StringVarP(&p.file, "output", "o", "", "the file to write (default: NAME-VERSION.wharf in the current folder)")
	f.StringVar(&p.lock, "lock", registry.LockName, "the file that keeps what references stand for")
	f.BoolVar(&p.update, "update", false, "take what the reference stands for now, and keep that")
	f.StringArrayVar(&p.trust, "trust", nil, "a public key in base64, or a file with published keys; may be repeated")
	f.StringVar(&p.config, "config", "", "configuration file with plugins.trust (or WHARF_CONFIG; default wharf.yaml, if it exists)")
	return cmd
}

// pulledPlugin is what was pulled, as JSON.
type pulledPlugin struct {
	Reference    string `json:"reference"`
	Artefact     string `json:"artefact"` // its digest
	Locked       bool   `json:"locked"`   // it is what wharf.lock says
	packedPlugin `json:",inline"`
}

func (a *app) pullPlugin(ctx context.Context, reference string, f *pullFlags) error {
	ref, err := registry.ParseReference(reference)
	if err != nil {
		return usagef("%w", err)
	}
	trust, err := f.trusted(a)
	if err != nil {
		return err
	}
	lock, err := registry.ReadLock(f.lock)
	if err != nil {
		return err
	}
	o, err := f.options(a, ref)
	if err != nil {
		return err
	}
	held, locked := lock.Packages[ref.String()]
	locked = locked && !f.update && ref.Digest() == ""
	artefact := held.Artefact
	if !locked {
		if artefact, err = registry.Resolve(ctx, ref, o); err != nil {
			return registryFailed(err)
		}
	}
	p, err := registry.Pull(ctx, ref.At(artefact), o)
	if err != nil {
		return lockedFailed(registryFailed(err), locked, f.lock)
	}
	if err := trust.Check(p); err != nil {
		return untrusted(err)
	}
	if locked && p.Digest != held.Package {
		return fail(advise(fmt.Errorf("%s: %s says that it is the package %s, and it is %s", ref, f.lock, held.Package, p.Digest), "--update, if you know why"))
	}
	d, err := f.write(ref, artefact, p)
	if err != nil {
		return err
	}
	d.Locked = locked
	return a.print(d, func() {
		a.showPacked(d.packedPlugin)
		a.out.Pairs([2]string{"artefact", d.Artefact})
	})
}

// trusted reads the keys of the command line and of the configuration.
func (f *pullFlags) trusted(a *app) (parcel.Trust, error) {
	eff, err := loadConfig(config.Sources{File: cmp.Or(f.config, a.env("WHARF_CONFIG")), Environ: a.environ})
	if err != nil {
		return nil, err
	}
	keys, err := trustedKeys(append(eff.Config.Plugins.Trusted(), f.trust...))
	return keys, err
}

// write writes the package, and then what its reference stands for.
func (f *pullFlags) write(ref registry.Reference, artefact string, p *parcel.Package) (*pulledPlugin, error) {
	file := cmp.Or(f.file, p.Name())
	size, err := writePackage(file, p)
	if err != nil {
		return nil, err
	}
	if ref.Digest() == "" {
		if err := registry.Keep(f.lock, ref, registry.Locked{Artefact: artefact, Package: p.Digest}); err != nil {
			return nil, err
		}
	}
	return &pulledPlugin{Reference: ref.String(), Artefact: artefact, packedPlugin: describe(file, size, p)}, nil
}

// lockedFailed says which file to blame when what a lock holds is not there any more.
func lockedFailed(err error, locked bool, lock string) error {
	if failure, ok := errors.AsType[*registry.Failure](err); ok && failure.Absent && locked {
		return advise(fail(failure), "--update, to take what the reference stands for now: "+lock+" has what it stood for")
	}
	return err
}

// untrusted says what to do about a package that a policy does not let pass.
func untrusted(err error) error {
	u, ok := errors.AsType[*parcel.Untrusted](err)
	if !ok {
		return err
	}
	try := "its author to sign it: wharf plugin package FILE --sign KEY"
	if len(u.Signed) > 0 {
		try = "the public key of its author for --trust or plugins.trust, if you know that it is theirs"
	}
	return fail(advise(err, try))
}
