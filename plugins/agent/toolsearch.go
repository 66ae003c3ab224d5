package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// searchTool is the tool by which a model finds other tools. It is the agent's own.
const searchTool = "tool_search"

// When tools are to be searched: with fewer the setting is not asked for, with more it need not be made.
const (
	fewTools    = 16
	manyTools   = 64
	manyBytes   = 64 << 10 // of names, descriptions and schemas
	mostPerTurn = 20       // that are offered from one turn to the next
	mostPerCall = 8
	mostFound   = 100 // that are offered at a time: those that were found first are not any more
)

// The values of tool_search.strategy.
const (
	searchBM25   = "bm25"
	searchRegex  = "regex"
	searchHybrid = "hybrid"
	searchOff    = "off"
)

// searchMode says that the agent itself searches, and no provider.
const searchMode = "client"

// toolSearch offers the model few of many tools, and lets it find the others. What it may call is the same.
type toolSearch struct {
	strategy string // "" for none
	ranking  ranking
	found    []string // the names of tools that are offered, in the order in which they were found
	thisTurn int
}

// begin decides whether tools are searched.
func (s *toolSearch) begin(box *toolbox) error {
	others, size := 0, 0
	for i := range box.offered {
		if t := &box.offered[i]; box.byName[t.Name].Server != "host" {
			others++
			size += len(t.Name) + len(t.Description) + len(t.InputSchema)
		}
	}
	if others <= fewTools {
		return nil
	}
	var set struct {
		Strategy string `json:"strategy"`
	}
	if _, err := wharf.Config("tool_search", &set); err != nil {
		return &wharf.Failure{Code: codeSettings, Message: fmt.Sprintf("the setting tool_search of the agent: %v", err)}
	}
	switch set.Strategy {
	case searchBM25, searchRegex, searchHybrid:
		s.strategy = set.Strategy
	case "":
		if others > manyTools || size > manyBytes {
			s.strategy = searchHybrid
		}
	case searchOff:
	default:
		return &wharf.Failure{Code: codeSettings, Message: fmt.Sprintf("the setting tool_search.strategy of the agent is %q; it is one of bm25, regex, hybrid and off", set.Strategy)}
	}
	if s.strategy != "" {
		for i := range box.offered {
			s.ranking.add(weighted{box.offered[i].Name, 3}, weighted{box.offered[i].Description, 1})
		}
	}
	return nil
}

// offers returns the tools that a model is shown: the host's, the search, and what it has found.
func (s *toolSearch) offers(box *toolbox) []wharf.ModelTool {
	if s.strategy == "" {
		return box.offered
	}
	var out []wharf.ModelTool
	hidden, servers := 0, []string{}
	for _, t := range box.offered {
		server := box.byName[t.Name].Server
		if server == "host" {
			out = append(out, t)
			continue
		}
		hidden++
		if !slices.Contains(servers, server) {
			servers = append(servers, server)
		}
	}
	out = append(out, s.tool(hidden, servers))
	for _, name := range s.found { // at the end, so that what comes before stays as it is
		if i := box.place(name); i >= 0 {
			out = append(out, box.offered[i])
		}
	}
	return out
}

func (s *toolSearch) tool(hidden int, servers []string) wharf.ModelTool {
	const some = 20
	how := "words"
	switch s.strategy {
	case searchRegex:
		how = "a regular expression (RE2)"
	case searchHybrid:
		how = "words, or a regular expression (RE2)"
	}
	of := strings.Join(servers[:min(len(servers), some)], ", ")
	return wharf.ModelTool{Name: searchTool,
		Description: fmt.Sprintf("There are %d more tools, of the servers %s. Find those that you need by %s of their names and descriptions; then you can call them.", hidden, of, how),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":20}},"required":["query"]}`)}
}

// place returns where a tool is among those that can be offered; -1 for none.
func (b *toolbox) place(name string) int {
	return slices.IndexFunc(b.offered, func(t wharf.ModelTool) bool { return t.Name == name })
}

// maxQuery bounds what is searched for, in bytes.
const maxQuery = 1_000

// call makes one search.
func (s *toolSearch) call(c wharf.ModelToolCall, box *toolbox) (wharf.ToolAnswer, error) {
	var asked struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}
	if err := json.Unmarshal(c.Arguments, &asked); err != nil {
		return wharf.ToolAnswer{}, fmt.Errorf("the arguments of %s: %w", searchTool, err)
	}
	if asked.Query == "" || len(asked.Query) > maxQuery {
		return wharf.ToolAnswer{}, fmt.Errorf("%s needs a query of at most %d bytes", searchTool, maxQuery)
	}
	if asked.Limit < 1 {
		asked.Limit = mostPerCall
	}
	_ = wharf.Tell(wharf.ToolSearchQuery, wharf.ToolSearch{ToolUseID: c.ID, Name: searchTool, Query: asked.Query, Strategy: s.strategy, Mode: searchMode})
	names, diagnostic := s.find(asked.Query, box)
	promoted := s.promote(names, min(asked.Limit, mostPerTurn))
	_ = wharf.Tell(wharf.ToolSearchResult, wharf.ToolSearch{ToolUseID: c.ID, Promoted: promoted, Strategy: s.strategy, Mode: searchMode})
	return searchAnswer(promoted, diagnostic, box)
}

func searchAnswer(names []string, diagnostic string, box *toolbox) (wharf.ToolAnswer, error) {
	type found struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	answer := struct {
		ToolNames  []string `json:"tool_names"`
		Tools      []found  `json:"tools"`
		Diagnostic string   `json:"diagnostic,omitempty"`
	}{names, []found{}, diagnostic}
	for _, name := range names {
		if i := box.place(name); i >= 0 {
			answer.Tools = append(answer.Tools, found{name, shortened(box.offered[i].Description, maxSummary)})
		}
	}
	if len(names) == 0 && diagnostic == "" {
		answer.Diagnostic = "nothing was found: try other words, or fewer; at most 20 tools are found between two answers"
	}
	text, err := json.Marshal(answer)
	return wharf.ToolAnswer{Structured: text}, err
}

// find returns the names of the tools that fit, the best first.
func (s *toolSearch) find(query string, box *toolbox) (names []string, diagnostic string) {
	scores := make([]float64, len(box.offered))
	if s.strategy != searchRegex {
		scores = s.ranking.scores(query)
	}
	if s.strategy != searchBM25 {
		pattern, err := regexp.Compile("(?i)" + query)
		switch {
		case err == nil:
			matches(pattern, box, scores)
		case s.strategy == searchRegex:
			diagnostic = err.Error()
		}
	}
	for _, i := range ordered(scores) {
		if name := box.offered[i].Name; box.byName[name].Server != "host" { // those are offered as it is
			names = append(names, name)
		}
	}
	return names, diagnostic
}

// matches adds to the scores of the tools that a pattern matches: a name counts most.
func matches(pattern *regexp.Regexp, box *toolbox, scores []float64) {
	const byName, byDescription = 1_000, 100
	for i := range box.offered {
		if pattern.MatchString(box.offered[i].Name) {
			scores[i] += byName
		} else if pattern.MatchString(box.offered[i].Description) {
			scores[i] += byDescription
		}
	}
}

// promote offers tools from the next question on, at most so many, and returns which of those that were
// found are offered then.
func (s *toolSearch) promote(names []string, most int) []string {
	offered := []string{}
	for _, name := range names[:min(len(names), most)] {
		if !slices.Contains(s.found, name) {
			if s.thisTurn >= mostPerTurn {
				continue
			}
			s.found = append(s.found, name)
			s.found = s.found[max(0, len(s.found)-mostFound):]
			s.thisTurn++
		}
		offered = append(offered, name)
	}
	return offered
}
