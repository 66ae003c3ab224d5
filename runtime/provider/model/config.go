package model

import (
	"github.com/wharf-dev/wharf/runtime/askclient"
	"github.com/wharf-dev/wharf/runtime/figures"

	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// The providers.
const (
	ProviderOpenAI    = "openai"
	ProviderAnthropic = "anthropic"
	ProviderScript    = "script"
	ProviderClient    = askclient.ProviderClient
)

// DefaultTimeout is how long one attempt may take when a [Model] names no Timeout.
const DefaultTimeout = 2 * time.Minute

// minThinking is the least that Anthropic's API takes.
const minThinking = 1024

// MaxRetries is the most that a [Model] may ask for.
const MaxRetries = 10

// Config says which models there are, and who may use them. The zero value has
// none: every call is then refused with a sentence that says what to configure.
type Config struct {
	// Models are the configured models, by the name that plugins ask for.
	Models map[string]Model
	// Default names the model that answers a call which names none. It may be empty
	// when there is exactly one model: that one is then the default.
	Default string
	// Prices are by "provider/model", the model as the provider names it. A model
	// without a price costs 0.
	Prices map[string]Price
	// Figures counts calls and what they cost; nil counts nothing.
	Figures *figures.Book
	// Script is the path of the file that the provider script reads.
	// It is needed when a model has that provider.
	Script string
	// Allow says which models a plugin may use: by the plugin's name, patterns of
	// model names as [path.Match] knows them. A nil map allows every plugin every
	// model; otherwise a plugin that is not in it may use none.
	Allow map[string][]string
}

// Model is one configured model.
type Model struct {
	Provider string // openai, anthropic, script, or client for that of the client that gave the Task
	// BaseURL is where the provider's API is: for openai the URL up to and with /v1,
	// for anthropic the URL before /v1. Empty for the provider's own service.
	BaseURL string
	// Model is the provider's name of the model. With the provider script it is
	// what answers and receipts say, and empty for "script".
	Model string
	// APIKey is asked before every attempt, so that a rotated key is picked up. It
	// may be nil for a server that wants none.
	APIKey func(context.Context) (Secret, error)
	// Timeout bounds one attempt, reading the whole answer included; 0 for
	// [DefaultTimeout]. The Task's own deadline bounds all attempts together.
	Timeout time.Duration
	// Retries is how many attempts may follow a first one that failed, 0 to
	// [MaxRetries]. Only what may pass by itself is tried again: 429, 5xx,
	// connections that fail or are cut, timeouts, answers that are not whole.
	Retries int
	// MaxTokens is the most output that a call may ask for, and what it gets when it
	// asks for nothing; 0 for no limit of the node's own.
	MaxTokens int
	// Thinking is how many tokens of MaxTokens the model may think before it answers, as
	// watchers are told; 0 for none. Compatible servers think as they do: there any number says
	// that it is told.
	Thinking int
	// Fallbacks names the models that are asked, in order, when this one fails. Their
	// own fallbacks are not followed.
	Fallbacks []string
}

// Price is what a model costs, per million tokens.
type Price struct {
	InputPerMillion  float64
	OutputPerMillion float64
	Currency         string // ISO 4217; empty for USD
}

// DefaultCurrency is the currency of a [Price] that names none, and of an answer
// that has no price.
const DefaultCurrency = "USD"

// validate returns the first mistake, in an order that does not change.
func (c *Config) validate() error {
	for _, name := range sortedKeys(c.Models) {
		if err := c.validateModel(name); err != nil {
			return fmt.Errorf("model %q: %w", name, err)
		}
	}
	if err := c.validateDefault(); err != nil {
		return err
	}
	for _, name := range sortedKeys(c.Prices) {
		if err := c.Prices[name].validate(name); err != nil {
			return fmt.Errorf("price %q: %w", name, err)
		}
	}
	return c.validateAllow()
}

func (c *Config) validateModel(name string) error {
	m := c.Models[name]
	switch {
	case name == "":
		return fmt.Errorf("the name is empty")
	case m.Timeout < 0:
		return fmt.Errorf("the timeout %v is negative", m.Timeout)
	case m.Retries < 0 || m.Retries > MaxRetries:
		return fmt.Errorf("retries is %d; it is 0 to %d", m.Retries, MaxRetries)
	case m.MaxTokens < 0:
		return fmt.Errorf("the limit of %d tokens is negative", m.MaxTokens)
	case m.Thinking < 0:
		return fmt.Errorf("the %d tokens of thinking are negative", m.Thinking)
	case m.Provider == ProviderAnthropic && m.Thinking > 0 && (m.Thinking < minThinking || m.Thinking >= cmp.Or(m.MaxTokens, anthropicTokens)):
		return fmt.Errorf("thinking is %d; it is at least %d, and less than the max_tokens of %d", m.Thinking, minThinking, cmp.Or(m.MaxTokens, anthropicTokens))
	}
	if err := c.validateProvider(m); err != nil {
		return err
	}
	for _, fallback := range m.Fallbacks {
		if _, ok := c.Models[fallback]; !ok {
			return fmt.Errorf("the fallback %q is not a configured model", fallback)
		}
		if c.Models[fallback].Provider == ProviderClient {
			return fmt.Errorf("the fallback %q is the client's model, which can only be asked first", fallback)
		}
		if fallback == name {
			return fmt.Errorf("it is its own fallback")
		}
	}
	return nil
}

func (c *Config) validateProvider(m Model) error {
	switch m.Provider {
	case ProviderScript:
		if c.Script == "" {
			return fmt.Errorf("the provider script needs the path of a script file")
		}
		return nil
	case ProviderOpenAI, ProviderAnthropic:
		return m.validateRemote()
	case ProviderClient:
		if m.BaseURL != "" || m.APIKey != nil {
			return fmt.Errorf("the model of a client has no base URL and no API key")
		}
		return nil
	case "":
		return fmt.Errorf("the provider is missing: it is openai, anthropic, script or client")
	}
	return fmt.Errorf("the provider %q is unknown: it is openai, anthropic, script or client", m.Provider)
}

func (m Model) validateRemote() error {
	switch {
	case m.Model == "":
		return fmt.Errorf("the provider's name of the model is missing")
	case m.BaseURL == "" && m.APIKey == nil:
		return fmt.Errorf("the API key is missing: only a server of your own, named by a base URL, may want none")
	case m.BaseURL == "":
		return nil
	}
	u, err := url.Parse(m.BaseURL)
	if err != nil {
		return fmt.Errorf("the base URL is malformed") // the error repeats it, and what it may hold
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("the base URL is not of the form http://HOST or https://HOST")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("the base URL holds a user, a query or a fragment: credentials go into the API key")
	}
	return nil
}

func (c *Config) validateDefault() error {
	if c.Default == "" {
		return nil
	}
	if _, ok := c.Models[c.Default]; !ok {
		return fmt.Errorf("the default model %q is not configured", c.Default)
	}
	return nil
}

func (p Price) validate(name string) error {
	provider, model, _ := strings.Cut(name, "/")
	if provider == "" || model == "" {
		return fmt.Errorf("the name is not of the form provider/model")
	}
	if !(p.InputPerMillion >= 0) || !(p.OutputPerMillion >= 0) { // also false for NaN
		return fmt.Errorf("a price is negative or no number")
	}
	return nil
}

func (c *Config) validateAllow() error {
	for _, plugin := range sortedKeys(c.Allow) {
		for _, pattern := range c.Allow[plugin] {
			if _, err := path.Match(pattern, ""); err != nil {
				return fmt.Errorf("models allowed to %q: the pattern %q: %w", plugin, pattern, err)
			}
		}
	}
	return nil
}

// defaultModel returns the name of the model for calls that name none, or "".
func (c *Config) defaultModel() string {
	if c.Default == "" && len(c.Models) == 1 {
		return sortedKeys(c.Models)[0]
	}
	return c.Default
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// allowed reports whether a plugin may use a model: each may use all where nothing is said of any.
func (m *Models) allowed(plugin, name string) bool {
	allow := m.regrants.Or(m.config.Allow)
	if allow == nil {
		return true
	}
	return slices.ContainsFunc(allow[plugin], func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	})
}
