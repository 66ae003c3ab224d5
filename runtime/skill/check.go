package skill

import (
	"fmt"
	"maps"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// fault says what is wrong with a part of a value. It is put into words only when it
// is told: most are of alternatives that do not hold.
type fault struct {
	at      *path
	format  string
	args    []any
	because *fault
}

// path leads to a part of a value.
type path struct {
	up   *path
	name string // of a member
	item int    // of an array, when there is no name
}

// maxShown is how many bytes of a stranger's text are shown in one place.
const maxShown = 64

func (p *path) String() string {
	if p == nil {
		return ""
	}
	if p.item >= 0 {
		return p.up.String() + "/" + strconv.Itoa(p.item)
	}
	return p.up.String() + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(shorten(p.name))
}

func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

// maxBecause is how many reasons of reasons are told.
const maxBecause = 4

func (f *fault) Error() string {
	text := ""
	for i := 0; f != nil && i < maxBecause; f, i = f.because, i+1 {
		text += fmt.Sprintf("at '%s': "+f.format, append([]any{f.at}, f.args...)...)
	}
	return text
}

// spot is where a check stands: where it is in the value, and which rules have led to one another
// there.
type spot struct {
	at    *path
	chain *chain
	quiet bool // nobody is told what is wrong
	needs bool // somebody is told what was left unevaluated
	depth int
}

type chain struct {
	up   *chain
	rule *rule
}

// left is what of an object or an array no rule has looked at, as far as somebody asks.
type left struct {
	members map[string]struct{}
	items   map[int]struct{}
}

func (l *left) empty() bool { return len(l.members) == 0 && len(l.items) == 0 }

// keep leaves what the other has left too.
func (l *left) keep(other *left, e *effort) {
	e.spend(perLeft * (len(l.members) + len(l.items)))
	maps.DeleteFunc(l.members, func(name string, _ struct{}) bool { _, both := other.members[name]; return !both })
	maps.DeleteFunc(l.items, func(i int, _ struct{}) bool { _, both := other.items[i]; return !both })
}

// check holds one rule against one value.
type check struct {
	*effort
	spot
	rule *rule
	left left
}

// overrun is what is found where nobody sees it.
var overrun = &fault{format: "the check was ended"}

func (c *check) wrong(format string, args ...any) *fault {
	if c.quiet {
		return overrun
	}
	return &fault{at: c.at, format: format, args: args}
}

// hold holds a rule against a value. Everything that it does is charged before; after
// an overrun its answer is of no account.
func hold(e *effort, r *rule, v any, s spot) (left, *fault) {
	c := &check{effort: e, spot: s, rule: r}
	if !e.spend(perStep) {
		return c.left, overrun
	}
	if s.depth > maxFrames {
		e.err = fmt.Errorf("more than %d parts of the schema lead to one another", maxFrames)
		return c.left, overrun
	}
	c.begin(v)
	if r.always != nil {
		if !*r.always {
			return c.left, c.wrong("nothing is allowed here")
		}
		return c.left, nil
	}
	if f := c.whole(v); f != nil {
		return c.left, f
	}
	if r.ref != nil {
		if f := c.same(r.ref, v, false); f != nil || r.only {
			return c.left, f
		}
	}
	f := c.typed(v)
	if f == nil {
		f = c.combined(v)
	}
	if f == nil {
		f = c.rest(v)
	}
	return c.left, f
}

// begin notes what is to be looked at, if somebody asks.
func (c *check) begin(v any) {
	r := c.rule
	switch v := v.(type) {
	case map[string]any:
		if r.others == nil && (c.needs || r.leftMembers != nil) && c.spend(perLeft*len(v)) {
			c.left.members = make(map[string]struct{}, len(v))
			for name := range v {
				c.left.members[name] = struct{}{}
			}
		}
	case []any:
		if r.rest == nil && (c.needs || r.leftItems != nil) && c.spend(perLeft*len(v)) {
			c.left.items = make(map[int]struct{}, len(v))
			for i := len(r.first); i < len(v); i++ {
				c.left.items[i] = struct{}{}
			}
		}
	}
}

// whole checks what concerns values of any type.
func (c *check) whole(v any) *fault {
	r, kind := c.rule, kindOf(v)
	for up := c.chain.up; up != nil && c.spend(perFrame); up = up.up {
		if up.rule == r {
			return c.wrong("the schema refers to itself without end")
		}
	}
	if r.types != 0 && r.types&kind == 0 && !(kind == kindNumber && r.types&kindInteger != 0 && c.integer(v)) {
		return c.wrong("got %s, want %s", kind, r.types)
	}
	if r.constant != nil && c.key(v) != *r.constant {
		return c.wrong("it is not %s", r.allowed)
	}
	if r.enum != nil {
		among := r.enumTypes&kind != 0
		if among {
			_, among = r.enum[c.key(v)]
		}
		if !among {
			return c.wrong("it is none of %s", r.allowed)
		}
	}
	return c.formatted(v)
}

func (c *check) integer(v any) bool {
	n, ok := v.(number)
	return ok && c.spend(perByte*len(n.String())) && readDecimal(n.String()).integer()
}

func (c *check) key(v any) string { return string(appendKey(nil, v, c.effort)) }

// The prices of formats for each byte. "regex" makes a tree of the text.
const (
	perFormatByte = 20
	perRegexByte  = 100
)

func (c *check) formatted(v any) *fault {
	format := c.rule.format
	if format == nil {
		return nil
	}
	text, ok := v.(string)
	if !ok {
		return nil // each format is one of texts
	}
	price := perFormatByte
	if format.Name == "regex" {
		price = perRegexByte
	}
	if !c.spend(price * len(text)) {
		return overrun
	}
	if err := format.Validate(v); err != nil {
		return c.wrong("it is no %s: %s", format.Name, shorten(err.Error()))
	}
	return nil
}

func (c *check) typed(v any) *fault {
	switch v := v.(type) {
	case map[string]any:
		return c.object(v)
	case []any:
		return c.array(v)
	case string:
		return c.text(v)
	case number:
		return c.number(v.String())
	}
	return nil
}

// same holds another rule against the same value.
func (c *check) same(r *rule, v any, quiet bool) *fault {
	seen, f := hold(c.effort, r, v, spot{at: c.at, chain: &chain{c.chain, r}, quiet: c.quiet || quiet, needs: !c.left.empty(), depth: c.depth + 1})
	if f == nil {
		c.left.keep(&seen, c.effort)
	}
	return f
}

// part holds a rule against a part of the value.
func (c *check) part(r *rule, v any, name string, item int) *fault {
	_, f := hold(c.effort, r, v, spot{at: &path{c.at, name, item}, chain: &chain{nil, r}, quiet: c.quiet, depth: c.depth + 1})
	return f
}

func (c *check) object(v map[string]any) *fault {
	r := c.rule
	if r.minMembers != nil && len(v) < *r.minMembers {
		return c.wrong("it has %d members, fewer than %d", len(v), *r.minMembers)
	}
	if r.maxMembers != nil && len(v) > *r.maxMembers {
		return c.wrong("it has %d members, more than %d", len(v), *r.maxMembers)
	}
	if f := c.has(v, r.required); f != nil {
		return f
	}
	if f := c.dependent(v); f != nil {
		return f
	}
	if f := c.members(v); f != nil || r.names == nil {
		return f
	}
	return c.named(v)
}

// has says whether an object has the members that it must have.
func (c *check) has(v map[string]any, required []string) *fault {
	for _, name := range required {
		if !c.spend(perName + len(name)) {
			return overrun
		}
		if _, ok := v[name]; !ok {
			return c.wrong("missing property '%s'", shorten(name))
		}
	}
	return nil
}

func (c *check) dependent(v map[string]any) *fault {
	for _, n := range c.rule.needs {
		if !c.spend(perName + len(n.member)) {
			return overrun
		}
		if _, ok := v[n.member]; !ok {
			continue
		}
		if f := c.has(v, n.others); f != nil {
			return f
		}
		if n.rule == nil {
			continue
		}
		if f := c.same(n.rule, v, false); f != nil {
			return f
		}
	}
	return nil
}

// members checks the members of an object. It looks at all of them, also when one is
// wrong: their order is not the same each time, and what is counted is to be.
func (c *check) members(v map[string]any) (first *fault) {
	r := c.rule
	if r.members == nil && r.matching == nil && r.others == nil {
		return nil
	}
	at := ""
	for name, member := range v {
		if !c.spend(perName + len(name)) {
			return overrun
		}
		if f := c.member(name, member); f != nil && (first == nil || name < at) {
			first, at = f, name
		}
	}
	return first
}

func (c *check) member(name string, v any) (first *fault) {
	r, seen := c.rule, false
	hold := func(r *rule) {
		seen = true
		if f := c.part(r, v, name, -1); first == nil {
			first = f
		}
	}
	if own := r.members[name]; own != nil {
		hold(own)
	}
	for _, m := range r.matching {
		if c.matches(m.pattern, name) {
			hold(m.rule)
		}
	}
	if !seen && r.others != nil {
		hold(r.others)
	}
	if seen {
		delete(c.left.members, name)
	}
	return first
}

func (c *check) named(v map[string]any) (first *fault) {
	at := ""
	for name := range v {
		_, f := hold(c.effort, c.rule.names, name, spot{at: &path{c.at, name, -1}, chain: &chain{nil, c.rule.names}, quiet: c.quiet, depth: c.depth + 1})
		if f != nil && (first == nil || name < at) {
			first, at = f, name
		}
		if c.err != nil {
			return overrun
		}
	}
	return first
}

func (c *check) array(v []any) *fault {
	r := c.rule
	if r.minItems != nil && len(v) < *r.minItems {
		return c.wrong("it has %d items, fewer than %d", len(v), *r.minItems)
	}
	if r.maxItems != nil && len(v) > *r.maxItems {
		return c.wrong("it has %d items, more than %d", len(v), *r.maxItems)
	}
	if r.unique {
		if f := c.distinct(v); f != nil {
			return f
		}
	}
	for i, item := range v {
		of := r.rest
		if i < len(r.first) {
			of = r.first[i]
		}
		if of == nil {
			break
		}
		if f := c.part(of, item, "", i); f != nil {
			return f
		}
	}
	if r.contains == nil {
		return nil
	}
	return c.containing(v)
}

func (c *check) distinct(v []any) *fault {
	seen := map[string]int{}
	for i, item := range v {
		if !c.spend(2 * perName) {
			return overrun
		}
		key := c.key(item)
		if before, ok := seen[key]; ok {
			return c.wrong("items %d and %d are equal", before, i)
		}
		seen[key] = i
	}
	return nil
}

func (c *check) containing(v []any) *fault {
	r, found := c.rule, 0
	for i, item := range v {
		if c.err != nil {
			return overrun
		}
		if c.part(r.contains, item, "", i) != nil {
			continue
		}
		found++
		if r.containsSeen {
			delete(c.left.items, i)
		}
	}
	least := 1
	if r.minContains != nil {
		least = *r.minContains
	}
	if found < least {
		return c.wrong("it contains %d of what it must contain, fewer than %d", found, least)
	}
	if r.maxContains != nil && found > *r.maxContains {
		return c.wrong("it contains %d of what it must contain, more than %d", found, *r.maxContains)
	}
	return nil
}

func (c *check) text(v string) *fault {
	r := c.rule
	if r.minLength != nil || r.maxLength != nil {
		if !c.spend(len(v)) {
			return overrun
		}
		length := utf8.RuneCountInString(v)
		if r.minLength != nil && length < *r.minLength {
			return c.wrong("it has %d characters, fewer than %d", length, *r.minLength)
		}
		if r.maxLength != nil && length > *r.maxLength {
			return c.wrong("it has %d characters, more than %d", length, *r.maxLength)
		}
	}
	if r.pattern != nil && !c.matches(r.pattern, v) {
		return c.wrong("it does not match the pattern '%s'", shorten(r.pattern.String()))
	}
	return nil
}

func (c *check) matches(p *pattern, text string) bool {
	price := p.price(text)
	if price > maxMatch && c.err == nil {
		c.err = fmt.Errorf("a text of %d bytes is too long for a pattern of %d instructions", len(text), p.size)
	}
	return c.spend(price) && p.MatchString(text)
}

func (c *check) number(v string) *fault {
	r := c.rule
	if r.least == nil && r.most == nil && r.above == nil && r.below == nil && r.multiple == nil {
		return nil
	}
	size := numberSize(v) + r.multipleSize
	if !c.spend(ratPrice(v) + 4*perByte*size) {
		return overrun
	}
	n := rat(v)
	if n == nil {
		c.err = fmt.Errorf("the number %s is too large to be compared", shorten(v))
		return overrun
	}
	switch {
	case r.least != nil && n.Cmp(r.least) < 0:
		return c.wrong("%s is less than the minimum %s", shorten(v), short(r.least))
	case r.most != nil && n.Cmp(r.most) > 0:
		return c.wrong("%s is more than the maximum %s", shorten(v), short(r.most))
	case r.above != nil && n.Cmp(r.above) <= 0:
		return c.wrong("%s is not more than %s", shorten(v), short(r.above))
	case r.below != nil && n.Cmp(r.below) >= 0:
		return c.wrong("%s is not less than %s", shorten(v), short(r.below))
	}
	if r.multiple == nil {
		return nil
	}
	if !c.spend(size * size / 64) {
		return overrun
	}
	if !new(big.Rat).Quo(n, r.multiple).IsInt() {
		return c.wrong("%s is no multiple of %s", shorten(v), short(r.multiple))
	}
	return nil
}

// short returns a number of a schema as a text.
func short(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// combined checks what is said of a value by several rules together.
func (c *check) combined(v any) *fault {
	r := c.rule
	if r.not != nil && c.same(r.not, v, true) == nil {
		return c.wrong("it is what it must not be")
	}
	for _, part := range r.all {
		if f := c.same(part, v, false); f != nil {
			return f
		}
	}
	if f := c.any(v); f != nil {
		return f
	}
	if f := c.one(v); f != nil || r.condition == nil {
		return f
	}
	then := r.consequence
	if c.same(r.condition, v, true) != nil {
		then = r.alternative
	}
	if then == nil {
		return nil
	}
	return c.same(then, v, false)
}

func (c *check) any(v any) (first *fault) {
	if len(c.rule.anyOf) == 0 {
		return nil
	}
	matched := false
	for _, part := range c.rule.anyOf {
		f := c.same(part, v, false)
		matched = matched || f == nil
		if c.err != nil || matched && c.left.empty() {
			break
		}
		if first == nil {
			first = f
		}
	}
	if matched {
		return nil
	}
	return c.none(first)
}

func (c *check) one(v any) (first *fault) {
	if len(c.rule.oneOf) == 0 {
		return nil
	}
	matched := -1
	for i, part := range c.rule.oneOf {
		switch f := c.same(part, v, matched >= 0); {
		case c.err != nil:
			return overrun
		case f == nil && matched >= 0:
			return c.wrong("it is both what alternative %d and what alternative %d says", matched, i)
		case f == nil:
			matched = i
		case first == nil:
			first = f
		}
	}
	if matched >= 0 {
		return nil
	}
	return c.none(first)
}

// none says that a value is none of several alternatives, and why not the first.
func (c *check) none(first *fault) *fault {
	return &fault{at: c.at, format: "it is none of the alternatives; of the first: ", because: first}
}

// rest checks what no other rule has looked at.
func (c *check) rest(v any) (first *fault) {
	r := c.rule
	if object, ok := v.(map[string]any); ok && r.leftMembers != nil {
		at := ""
		for name := range c.left.members {
			if f := c.part(r.leftMembers, object[name], name, -1); f != nil && (first == nil || name < at) {
				first, at = f, name
			}
			if c.err != nil {
				return overrun
			}
		}
		c.left.members = nil
	}
	if items, ok := v.([]any); ok && r.leftItems != nil {
		at := 0
		for i := range c.left.items {
			if f := c.part(r.leftItems, items[i], "", i); f != nil && (first == nil || i < at) {
				first, at = f, i
			}
			if c.err != nil {
				return overrun
			}
		}
		c.left.items = nil
	}
	return first
}
