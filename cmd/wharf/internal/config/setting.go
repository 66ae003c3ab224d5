package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting is the declaration of one setting.
type Setting struct {
	Name    string // dotted, as in the file
	Default string
	Kind    string // what a value is, in a word
	Range   string // what values are allowed, in words; "" when Kind says it all
	Doc     string
	// apply parses text into its place in c and returns its canonical form.
	apply func(c *Config, text string) (string, error)
}

// EnvPrefix starts the environment variable of every setting.
const EnvPrefix = "WHARF_"

// Env returns the name of the setting's environment variable.
func (s *Setting) Env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
}

// Group returns the setting's group: what precedes the dot, or "".
func (s *Setting) Group() string {
	group, _, dotted := strings.Cut(s.Name, ".")
	if !dotted {
		return ""
	}
	return group
}

// Key returns the setting's name within its group.
func (s *Setting) Key() string { return s.Name[strings.LastIndexByte(s.Name, '.')+1:] }

// Check reports whether text is a valid value.
func (s *Setting) Check(text string) error {
	_, err := s.apply(&Config{}, text)
	return err
}

func text(name, preset string, at func(*Config) *string, valid func(string) error, doc string) Setting {
	return Setting{Name: name, Default: preset, Kind: "text", Doc: doc,
		apply: func(c *Config, s string) (string, error) {
			*at(c) = s
			if valid == nil {
				return s, nil
			}
			return s, valid(s)
		}}
}

func address(name, preset string, at func(*Config) *string, doc string) Setting {
	s := text(name, preset, at, hostPort, doc)
	s.Kind = "address"
	s.Range = "HOST:PORT"
	return s
}

func choice(name, preset string, allowed []string, at func(*Config) *string, doc string) Setting {
	words := oneOf(allowed)
	s := text(name, preset, at, func(v string) error {
		if !slices.Contains(allowed, v) {
			return fmt.Errorf("%q is not %s", v, words)
		}
		return nil
	}, doc)
	s.Kind, s.Range = "choice", words
	return s
}

// Level is a log level as it is written in a configuration.
type Level slog.Level

var levels = []string{"debug", "info", "warn", "error"}

// ParseLevel reads one of debug, info, warn and error.
func ParseLevel(text string) (slog.Level, error) {
	var l slog.Level
	if !slices.Contains(levels, text) {
		return l, fmt.Errorf("%q is not %s", text, oneOf(levels))
	}
	return l, l.UnmarshalText([]byte(text))
}

func level(name, preset string, at func(*Config) *Level, doc string) Setting {
	return Setting{Name: name, Default: preset, Kind: "choice", Range: oneOf(levels), Doc: doc,
		apply: func(c *Config, s string) (string, error) {
			l, err := ParseLevel(s)
			*at(c) = Level(l)
			return s, err
		}}
}

func number(name, preset string, at func(*Config) *int, least, most int, doc string) Setting {
	return Setting{Name: name, Default: preset, Kind: "number", Doc: doc,
		Range: fmt.Sprintf("%d to %d", least, most),
		apply: func(c *Config, s string) (string, error) {
			n, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
			if err != nil {
				return "", fmt.Errorf("%q is not a whole number", s)
			}
			if n < least || n > most {
				return "", fmt.Errorf("%d is not within %d to %d", n, least, most)
			}
			*at(c) = n
			return strconv.Itoa(n), nil
		}}
}

func size(name, preset string, at func(*Config) *int64, least, most int64, doc string) Setting {
	return Setting{Name: name, Default: preset, Kind: "size", Doc: doc,
		Range: FormatSize(least) + " to " + FormatSize(most),
		apply: func(c *Config, s string) (string, error) {
			n, err := ParseSize(s)
			if err != nil {
				return "", err
			}
			if n < least || n > most {
				return "", fmt.Errorf("%s is not within %s to %s", s, FormatSize(least), FormatSize(most))
			}
			*at(c) = n
			return FormatSize(n), nil
		}}
}

func period(name, preset string, at func(*Config) *time.Duration, least, most time.Duration, doc string) Setting {
	s := Setting{Name: name, Default: preset, Kind: "duration", Doc: doc,
		Range: FormatDuration(least) + " to " + FormatDuration(most)}
	s.apply = func(c *Config, text string) (string, error) {
		d, err := ParseDuration(text)
		if err != nil {
			return "", err
		}
		if d < least || d > most {
			return "", fmt.Errorf("%s is not within %s", text, s.Range)
		}
		*at(c) = d
		return FormatDuration(d), nil
	}
	return s
}

func notEmpty(s string) error {
	if s == "" {
		return errors.New("must not be empty")
	}
	return nil
}

func httpURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%q is not a URL such as https://wharf.example.com", s)
	}
	return nil
}

func hostPort(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%q is not HOST:PORT, such as 127.0.0.1:8080", s)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q has no port from 0 to 65535", s)
	} else if n == 0 && port != "0" {
		return fmt.Errorf("%q has no port from 0 to 65535", s)
	}
	return nil
}

// oneOf renders words as "one of a, b, c".
func oneOf(words []string) string { return "one of " + strings.Join(words, ", ") }
