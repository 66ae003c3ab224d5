package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// The codes of refusals.
const (
	CodeDenied      = "secret_denied"      // the plugin was not granted the secret
	CodeUnknown     = "secret_unknown"     // there is none of the name
	CodeUnavailable = "secret_unavailable" // it cannot be read now
	codeInvalid     = "invalid_request"
)

// maxValue is the longest value, in bytes.
const maxValue = 64 << 10

// commandTime is how long a command may take to tell a value.
const commandTime = 10 * time.Second

// Source says where the value of a secret is: exactly one of Env, File and Command.
type Source struct {
	Env     string
	File    string
	Command []string // a program and its arguments
	// Hosts are the hosts that plugins may send the value to; nil for all that they
	// may send requests to. Package web says how hosts are written.
	Hosts []string
}

// Config says which secrets there are, and which plugins may use them.
type Config struct {
	Sources map[string]Source
	Grants  map[string][]string              // names, by plugin
	Getenv  func(name string) (string, bool) // default os.LookupEnv
	Log     *slog.Logger                     // why values cannot be read; default slog.Default
}

// Store reads secrets, and answers abi.CallSecretUse. It is safe for concurrent
// use.
type Store struct {
	config   Config
	regrants provider.Regrants[string]
}

var _ provider.Performer = (*Store)(nil)

// New returns a Store. It reads nothing yet.
func New(c Config) *Store {
	if c.Getenv == nil {
		c.Getenv = os.LookupEnv
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return &Store{config: c}
}

// Prepare implements [provider.Performer].
func (s *Store) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.CallSecretUseRequest
	if err := json.Unmarshal(c.Request, &req); err != nil || req.Name == "" {
		return provider.Plan{}, provider.Refuse(abi.CallInvalid, codeInvalid, `secret.use takes {"name": "..."}`)
	}
	name, err := s.find(ctx, c, req.Name)
	if err != nil {
		return provider.Plan{}, err
	}
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		return json.Marshal(abi.CallSecretUseAnswer{Handle: Handle(name)})
	}}, nil
}

// find returns the whole name of the secret that a plugin asks for: one of the
// node's that it was granted, or else one of a Vault.
func (s *Store) find(ctx context.Context, c *provider.Call, name string) (string, error) {
	err := s.Granted(c.Plugin, name)
	if err == nil || c.Vault == nil {
		return name, err
	}
	v, refused := c.Vault(ctx, name)
	if refused == nil {
		return v.Name, nil
	}
	// A short name that no Vault of the Session has is one of the node's after all.
	if r, ok := errors.AsType[*provider.Refusal](refused); ok && r.Status == abi.CallNotFound && !InVault(name) {
		return "", err
	}
	return "", refused
}

// Regrant says which secrets plugins may use from now on.
func (s *Store) Regrant(grants map[string][]string) { s.regrants.Replace(grants) }

// Granted returns nil when the plugin may use the secret, else a *provider.Refusal.
func (s *Store) Granted(plugin, name string) error {
	if !slices.Contains(s.regrants.Or(s.config.Grants)[plugin], name) {
		return provider.Refuse(abi.CallDenied, CodeDenied,
			fmt.Sprintf("the plugin %q may not use the secret %q: grants.%s.secrets does not name it", plugin, name, plugin))
	}
	if _, ok := s.config.Sources[name]; !ok {
		return provider.Refuse(abi.CallNotFound, CodeUnknown, fmt.Sprintf("there is no secret %q: secrets does not name it", name))
	}
	return nil
}

// Value reads a secret for a plugin. Its error is a *provider.Refusal.
func (s *Store) Value(ctx context.Context, plugin, name string) (Value, error) {
	if err := s.Granted(plugin, name); err != nil {
		return Value{}, err
	}
	return s.Lookup(ctx, name)
}

// Hosts returns where plugins may send the secret to; nil for all that they may
// send requests to.
func (s *Store) Hosts(name string) []string { return s.config.Sources[name].Hosts }

// Lookup reads a secret for the operator's own configuration, which needs no
// grant. Its error is a *provider.Refusal, for a call that cannot go on without it.
func (s *Store) Lookup(ctx context.Context, name string) (Value, error) {
	source, ok := s.config.Sources[name]
	if !ok {
		return Value{}, provider.Refuse(abi.CallNotFound, CodeUnknown, fmt.Sprintf("there is no secret %q: secrets does not name it", name))
	}
	text, err := s.read(ctx, source)
	if err != nil {
		// Where the operator keeps it is not the plugin's business.
		s.config.Log.Warn("a secret cannot be read", "secret", name, "error", err)
		return Value{}, provider.Refuse(abi.CallUnavailable, CodeUnavailable,
			fmt.Sprintf("the secret %q cannot be read now; the node's log says why", name))
	}
	return NewValue(name, text), nil
}

// Expand puts secrets where their handles stand in a text of the operator's
// configuration, and returns what it put there.
func (s *Store) Expand(ctx context.Context, text string) (string, []Value, error) {
	var values []Value
	for _, name := range Names(text) {
		v, err := s.Lookup(ctx, name)
		if err != nil {
			return "", nil, err
		}
		values = append(values, v)
	}
	return Fill(text, values), values, nil
}

func (s *Store) read(ctx context.Context, source Source) (string, error) {
	var raw []byte
	var err error
	switch {
	case source.Env != "":
		value, _ := s.config.Getenv(source.Env)
		raw = []byte(value)
		if value == "" {
			err = fmt.Errorf("the environment variable %s is not set", source.Env)
		}
	case source.File != "":
		raw, err = readFile(source.File)
	case len(source.Command) > 0:
		raw, err = runCommand(ctx, source.Command)
	default:
		err = errors.New("it has no source")
	}
	if err != nil {
		return "", err
	}
	return check(raw)
}

// check takes the line break at the end away.
func check(raw []byte) (string, error) {
	raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
	switch {
	case len(raw) == 0:
		return "", errors.New("it is empty")
	case len(raw) > maxValue:
		return "", fmt.Errorf("it is longer than %d bytes", maxValue)
	}
	return string(raw), nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxValue+2))
}

// runCommand returns what a program writes to its standard output. What it writes
// elsewhere is dropped: it may hold the value.
func runCommand(ctx context.Context, command []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	out := &bounded{left: maxValue + 2}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout = out
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running %s: %w", command[0], err)
	}
	return out.Bytes(), nil
}

// bounded keeps the first bytes that are written to it, and drops the rest.
type bounded struct {
	bytes.Buffer
	left int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.left)]
	b.left -= len(kept)
	_, err := b.Buffer.Write(kept)
	return len(p), err
}
