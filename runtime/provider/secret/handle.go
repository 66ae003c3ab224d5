package secret

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// NamePattern is the regular expression of a secret's name.
const NamePattern = `[A-Za-z0-9][A-Za-z0-9_.-]{0,63}`

// A secret of a Vault is named VAULT/NAME; no other name has a slash.
var handles = regexp.MustCompile(`\{\{secret:((?:vault_[0-9A-Z]{26}/)?` + NamePattern + `)\}\}`)

// InVault reports whether a name is that of a secret in a Vault, VAULT/NAME.
func InVault(name string) bool { return strings.Contains(name, "/") }

// Handle returns what stands for the named secret in a text.
func Handle(name string) string { return "{{secret:" + name + "}}" }

// Names returns the names of the secrets whose handles text holds, each once.
func Names(text string) []string {
	if !strings.Contains(text, "{{secret:") {
		return nil
	}
	var names []string
	for _, match := range handles.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, match[1]) {
			names = append(names, match[1])
		}
	}
	return names
}

// Fill puts values where their handles stand.
func Fill(text string, values []Value) string {
	if len(values) == 0 {
		return text
	}
	pairs := make([]string, 0, 2*len(values))
	for _, v := range values {
		pairs = append(pairs, Handle(v.name), v.text)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// FillQuery puts values, escaped, where their handles stand in the query of a URL.
// The handles may be escaped too.
func FillQuery(query string, values []Value) string {
	if len(values) == 0 {
		return query
	}
	pairs := make([]string, 0, 6*len(values))
	for _, v := range values {
		escaped, handle := url.QueryEscape(v.text), url.QueryEscape(Handle(v.name))
		// Not everybody who escapes a query escapes slashes.
		pairs = append(pairs, Handle(v.name), escaped, handle, escaped, strings.ReplaceAll(handle, "%2F", "/"), escaped)
	}
	return strings.NewReplacer(pairs...).Replace(query)
}

// Scrub puts handles where values stand, in the forms in which servers tend to
// give back what they were sent: as it is, escaped for a URL or for JSON, and in
// base64.
type Scrub struct{ replacer *strings.Replacer }

// NewScrub returns a Scrub of the given values.
func NewScrub(values []Value) *Scrub {
	type form struct{ text, handle string }
	var forms []form
	for _, v := range values {
		for _, text := range formsOf(v.text) {
			forms = append(forms, form{text, Handle(v.name)})
		}
	}
	// The replacer takes the first that fits: a value may begin with another one.
	slices.SortStableFunc(forms, func(a, b form) int { return len(b.text) - len(a.text) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f.text, f.handle)
	}
	return &Scrub{strings.NewReplacer(pairs...)}
}

// Text returns s without the values.
func (s *Scrub) Text(text string) string { return s.replacer.Replace(text) }

func formsOf(value string) []string {
	if value == "" {
		return nil
	}
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawStdEncoding.EncodeToString([]byte(value)),
		base64.URLEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value))}
	if quoted, err := jsontext.AppendQuote(nil, value); err == nil {
		inner := string(quoted[1 : len(quoted)-1])
		forms = append(forms, inner, strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(inner))
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}
