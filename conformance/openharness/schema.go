package openharness

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

// document describes the protocol's operations. It follows from the types that its authors publish.
//
//go:embed openharness.json
var document []byte

// published holds answers against the document.
type published struct {
	compiler *jsonschema.Compiler
	routes   []publishedRoute
}

// publishedRoute is an operation of the document.
type publishedRoute struct {
	method  string
	path    *regexp.Regexp
	literal int    // how much of the path is no parameter
	answer  string // the schema of a success that is JSON; "" for others
}

var (
	pathParam = regexp.MustCompile(`\{[^}]*\}`)
	quoted    = regexp.MustCompile(`\\\{[^}]*\\\}`)
)

func newPublished() (*published, error) {
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema map[string]any `json:"schema"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("reading the protocol's document: %w", err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("reading the protocol's document: %w", err)
	}
	d := &published{compiler: jsonschema.NewCompiler()}
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource("openharness.json", whole); err != nil {
		return nil, fmt.Errorf("reading the protocol's document: %w", err)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			rt := routeOf(method, strings.TrimPrefix(path, "/harnesses"))
			for status, res := range op.Responses {
				if media, ok := res.Content["application/json"]; ok && status != "default" {
					rt.answer, _ = media.Schema["$ref"].(string)
				}
			}
			d.routes = append(d.routes, rt)
		}
	}
	return d, nil
}

func routeOf(method, path string) publishedRoute {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(path), `\{path\}`, `.+`)
	return publishedRoute{method: strings.ToUpper(method), path: regexp.MustCompile("^" + quoted.ReplaceAllString(pattern, `[^/]+`) + "$"),
		literal: len(pathParam.ReplaceAllString(path, ""))}
}

// routeFor returns the operation that a request asks for: the one whose path says most.
func (d *published) routeFor(method, path string) (best *publishedRoute) {
	path, _, _ = strings.Cut(path, "?")
	for i := range d.routes {
		rt := &d.routes[i]
		if rt.method == method && rt.path.MatchString(path) && (best == nil || rt.literal > best.literal) {
			best = rt
		}
	}
	return best
}

// check says what of an answer is not as the document has it.
func (d *published) check(a answer) error {
	if a.status >= 400 {
		return d.fits("#/components/schemas/ErrorResponse", a.body)
	}
	rt := d.routeFor(a.method, a.path)
	if rt == nil || rt.answer == "" || a.status == 204 {
		return nil
	}
	return d.fits(rt.answer, a.body)
}

// event says what of the data of a stream's event is not as the document has it.
func (d *published) event(name string, data []byte) error {
	return d.fits("#/components/schemas/"+name, data)
}

func (d *published) fits(ref string, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("it is no JSON: %s", answers.Excerpt(text))
	}
	schema, err := d.compiler.Compile("openharness.json" + ref)
	if err != nil {
		return fmt.Errorf("reading the schema %s: %w", ref, err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%s: %s", strings.Join(strings.Fields(err.Error()), " "), answers.Excerpt(text))
	}
	return nil
}
