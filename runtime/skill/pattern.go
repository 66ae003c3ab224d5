package skill

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The bounds on the patterns of a schema.
const (
	maxPattern     = 256     // bytes of a pattern in a schema that is new
	maxProgram     = 1000    // instructions of a pattern in a schema that is new
	maxNewPrograms = 20_000  // instructions of all patterns in a schema that is new
	maxPrograms    = 100_000 // instructions of all patterns, whenever the schema was taken
)

// pattern is a compiled pattern with its price.
type pattern struct {
	*regexp.Regexp
	size int // instructions, at least as many as the compiled program has
}

// price returns what it costs to match a text.
func (p *pattern) price(text string) int { return perPattern + perMatch*p.size*(len(text)+1) }

// patterns compiles the patterns of one schema, each once.
type patterns struct {
	known map[string]*pattern
	size  int
}

// compile implements [jsonschema.RegexpEngine]. How large a program becomes is worked
// out before it is made.
func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if known := p.known[text]; known != nil {
		return known, nil
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	made := &pattern{size: instructions(parsed)}
	if p.size += made.size; p.size > maxPrograms {
		return nil, fmt.Errorf("the patterns take more than %d instructions: repeat less in them", maxPrograms)
	}
	if made.Regexp, err = regexp.Compile(text); err != nil {
		return nil, err
	}
	p.known[text] = made
	return made, nil
}

// taken says whether the patterns are within what a new schema may have.
func (p *patterns) taken() error {
	for text, made := range p.known {
		if len(text) > maxPattern {
			return fmt.Errorf("a pattern has %d bytes, more than %d", len(text), maxPattern)
		}
		if made.size > maxProgram {
			return fmt.Errorf("pattern %q takes %d instructions, more than %d: repeat less in it", text, made.size, maxProgram)
		}
	}
	if p.size > maxNewPrograms {
		return fmt.Errorf("the patterns take %d instructions together, more than %d: repeat less in them", p.size, maxNewPrograms)
	}
	return nil
}

// instructions returns an upper bound of how many instructions an expression is
// compiled to.
func instructions(re *syntax.Regexp) int {
	own := 1
	switch re.Op {
	case syntax.OpLiteral:
		own = max(1, len(re.Rune))
	case syntax.OpCapture:
		own = 2
	case syntax.OpAlternate:
		own = len(re.Sub)
	}
	sum := 0
	for _, sub := range re.Sub {
		sum += instructions(sub) + 1
	}
	if re.Op == syntax.OpRepeat {
		sum *= max(re.Min+1, re.Max)
	}
	return own + sum
}

// anyPattern says whether a text is a regular expression, which is what the format
// "regex" asks. It makes no program of it.
func anyPattern(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		return errors.New("no regular expression")
	}
	return nil
}
