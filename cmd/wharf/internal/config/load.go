package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/maps"
	"github.com/knadh/koanf/v2"

	"github.com/wharf-dev/wharf/runtime/spelling"
)

// DefaultFile is the file that is read, when it exists, if none is named.
const DefaultFile = "wharf.yaml"

// Sources says where values come from.
type Sources struct {
	// File is the configuration file. When it is empty, [DefaultFile] is read if it
	// exists.
	File string
	// Environ is the environment as os.Environ returns it.
	Environ []string
	// Set and Flags hold the values given on the command line, by setting name: with --set, and with
	// flags of their own, which count more.
	Set, Flags map[string]string
}

// Value is the effective value of a setting.
type Value struct {
	Setting Setting
	Text    string // in canonical form
	Origin  string // such as "default", "WHARF_LISTEN", "--listen" or "wharf.yaml:3"
}

// Effective is a configuration together with where each value came from.
type Effective struct {
	Config Config
	File   string // the file that was read, "" for none
	Values []Value
	// Unknown lists environment variables that start with [EnvPrefix] and mean
	// nothing to Wharf. They are no error: orchestrators make such names up.
	Unknown []string
	// Warnings are what holds, and had better be written otherwise.
	Warnings []string
	named    []Value // what Config.Named was made from
}

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	Origin  string // where the value came from
	Setting string // "" when the problem is not one setting's
	Message string
}

// Problems is everything that is wrong with a configuration.
type Problems []Problem

// Error lists the problems, one a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// String renders the problem on one line.
func (p Problem) String() string {
	if p.Setting == "" || strings.HasSuffix(p.Origin, " "+p.Setting) { // as in --set NAME
		return p.Origin + ": " + p.Message
	}
	return p.Origin + ": " + p.Setting + ": " + p.Message
}

// layer is what one source states: text by setting name, and where each is from.
// The file alone has what is named by it, and its values as they are shown.
type layer struct {
	texts   map[string]string
	origins map[string]string
	named   Named
	values  []Value
}

func newLayer() layer {
	return layer{texts: map[string]string{}, origins: map[string]string{}}
}

func (l layer) put(name, text, origin string) {
	l.texts[name] = text
	l.origins[name] = origin
}

// Load reads every source. Its error is [Problems] when values are wrong.
func Load(s Sources) (*Effective, error) {
	eff := &Effective{}
	file, problems, err := readFile(s.File, eff)
	if err != nil {
		return nil, err
	}
	env := environLayer(s.Environ, eff)
	set, more := flagLayer(s.Set, setFlag)
	flags, others := flagLayer(s.Flags, ownFlag)
	problems = slices.Concat(problems, more, others)
	merged, err := merge(defaultLayer(), file, env, set, flags)
	if err != nil {
		return nil, err
	}
	return eff.finish(merged, problems)
}

// finish takes over the merged values, unless there is any problem.
func (e *Effective) finish(merged layer, problems Problems) (*Effective, error) {
	problems = append(problems, e.resolve(merged)...)
	if len(problems) == 0 {
		problems = e.crossCheck()
	}
	if len(problems) > 0 {
		return nil, problems
	}
	e.findFiles()
	return e, nil
}

// Defaults returns the configuration that follows from the defaults and the given
// values alone, whatever the environment and the current folder hold.
func Defaults(values map[string]string) (*Effective, error) {
	eff := &Effective{}
	given, problems := flagLayer(values, setFlag)
	merged, err := merge(defaultLayer(), given)
	if err != nil {
		return nil, err
	}
	return eff.finish(merged, problems)
}

func readFile(name string, eff *Effective) (layer, Problems, error) {
	explicit := name != ""
	if !explicit {
		name = DefaultFile
	}
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !explicit {
		return newLayer(), nil, nil
	}
	if err != nil {
		return layer{}, nil, fmt.Errorf("reading the configuration: %w", err)
	}
	eff.File = name
	l, problems := parseFile(name, content)
	eff.Config.Named = l.named
	eff.named = l.values
	return l, problems, nil
}

func defaultLayer() layer {
	l := newLayer()
	for _, s := range Settings() {
		l.put(s.Name, s.Default, "default")
	}
	return l
}

// otherVariables are variables that start with [EnvPrefix] and are no settings.
func otherVariables() []string {
	return []string{"WHARF_API_KEY", "WHARF_SERVER", "WHARF_CONFIG", "WHARF_LONG", "WHARF_REGISTRY_USER", "WHARF_REGISTRY_PASSWORD", "WHARF_CA", "WHARF_CLIENT_CERT", "WHARF_CLIENT_KEY"}
}

// environLayer reads the environment. An empty variable counts as one that is not
// set, so that a wrapper can clear it.
func environLayer(environ []string, eff *Effective) layer {
	l := newLayer()
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if text == "" || !strings.HasPrefix(name, EnvPrefix) || slices.Contains(otherVariables(), name) {
			continue
		}
		if s := byEnv(name); s != nil {
			l.put(s.Name, text, name)
			continue
		}
		eff.Unknown = append(eff.Unknown, name)
	}
	return l
}

// setFlag is how a setting is given that has no flag of its own.
func setFlag(name string) string { return "--set " + name }

// ownFlag is the flag that stands for a setting.
func ownFlag(name string) string { return "--" + strings.NewReplacer(".", "-", "_", "-").Replace(name) }

func flagLayer(flags map[string]string, origin func(name string) string) (layer, Problems) {
	l := newLayer()
	var problems Problems
	for name, text := range flags {
		if lookup(name) == nil {
			problems = append(problems, Problem{Origin: "--set", Message: unknown(name)})
			continue
		}
		l.put(name, text, origin(name))
	}
	return l, problems
}

// merge lets later layers win.
func merge(layers ...layer) (layer, error) {
	k := koanf.New(".")
	origins := map[string]string{}
	for _, l := range layers {
		if err := k.Load(provider(l), nil); err != nil {
			return layer{}, fmt.Errorf("merging the configuration: %w", err)
		}
		for name, origin := range l.origins {
			origins[name] = origin
		}
	}
	merged := newLayer()
	for name := range origins {
		merged.put(name, k.String(name), origins[name])
	}
	return merged, nil
}

// provider makes a layer known to koanf.
type provider layer

// ReadBytes implements koanf.Provider; a layer is no text.
func (p provider) ReadBytes() ([]byte, error) { return nil, errors.ErrUnsupported }

// Read implements koanf.Provider.
func (p provider) Read() (map[string]any, error) {
	flat := make(map[string]any, len(p.texts))
	for name, text := range p.texts {
		flat[name] = text
	}
	return maps.Unflatten(flat, "."), nil
}

func (e *Effective) resolve(merged layer) Problems {
	var problems Problems
	for _, s := range Settings() {
		origin := merged.origins[s.Name]
		canonical, err := s.apply(&e.Config, merged.texts[s.Name])
		if err != nil {
			problems = append(problems, Problem{Origin: origin, Setting: s.Name, Message: err.Error()})
		}
		e.Values = append(e.Values, Value{Setting: s, Text: canonical, Origin: origin})
	}
	e.Values = append(e.Values, e.named...)
	return problems
}

// crossCheck holds the rules that tie settings to each other.
func (e *Effective) crossCheck() Problems {
	c := &e.Config
	var problems Problems
	if c.Limits.InFlight < c.Limits.Body {
		problems = append(problems, Problem{Origin: e.origin("limits.in_flight"), Setting: "limits.in_flight",
			Message: fmt.Sprintf("%s is less than limits.body (%s), so that the largest request could never be taken",
				spelling.FormatSize(c.Limits.InFlight), spelling.FormatSize(c.Limits.Body))})
	}
	if c.Retention.Events != 0 && c.Retention.Events < c.Retention.Idempotency {
		problems = append(problems, Problem{Origin: e.origin("retention.events"), Setting: "retention.events",
			Message: fmt.Sprintf("%s is less than retention.idempotency (%s), whose answers are read from events",
				spelling.FormatDuration(c.Retention.Events), spelling.FormatDuration(c.Retention.Idempotency))})
	}
	problems = append(problems, e.crossCheckMetrics()...)
	return append(problems, e.crossCheckNamed()...)
}

func (e *Effective) origin(name string) string {
	for _, v := range e.Values {
		if v.Setting.Name == name {
			return v.Origin
		}
	}
	return ""
}

func lookup(name string) *Setting {
	for _, s := range Settings() {
		if s.Name == name {
			return &s
		}
	}
	return nil
}

func byEnv(name string) *Setting {
	for _, s := range Settings() {
		if s.Env() == name {
			return &s
		}
	}
	return nil
}
