package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// The values of skill_match.strategy. embedding is another name of host.
const (
	matchMetadata  = "metadata"
	matchHost      = "host"
	matchEmbedding = "embedding"
)

// skillMatch is the setting of that name. Without a strategy no skill is matched: the model is told of all,
// and reads those that it needs.
type skillMatch struct {
	Strategy string  `json:"strategy"`
	TopN     int     `json:"top_n"`      // how many skills are active at most
	MinScore float64 `json:"min_score"`  // of a match
	KeepAll  bool    `json:"keep_tools"` // skills narrow no tools
}

// maxActive bounds top_n: the instructions of active skills are in each request.
const maxActive = 8

// matched is a skill that helps with what is to be done.
type matched struct {
	name   string
	score  float64
	reason string
}

// matcher finds the skills that help with a prompt, and with the files that are worked on.
type matcher interface {
	match(prompt string, files []string, skills []wharf.Skill) ([]matched, error)
}

// activation is which skills are active: their instructions are in the prompt, and where they say which
// tools they need, the model is offered those.
type activation struct {
	set     skillMatch
	skills  []wharf.Skill
	host    matcher // asks the host; nil where it cannot be asked
	active  []activeSkill
	read    []string // skills that the model has read itself: they stay active
	files   []string // that the tools were called with, the latest last
	asked   string   // what was matched last
	warned  bool     // that the host does not match
	offered []string // the tools that the model is offered; nil for all
}

type activeSkill struct {
	wharf.Skill
	text string // its instructions
}

// begin asks for the setting, of a Task that has skills.
func (v *activation) begin(skills []wharf.Skill) error {
	if len(skills) == 0 {
		return nil
	}
	v.set.TopN = 3
	if _, err := wharf.Config("skill_match", &v.set); err != nil {
		return &wharf.Failure{Code: codeSettings, Message: fmt.Sprintf("the setting skill_match of the agent: %v", err)}
	}
	switch v.set.Strategy {
	case "":
	case matchMetadata, matchHost, matchEmbedding:
		v.skills, v.host = skills, client{}
		v.set.TopN = min(max(v.set.TopN, 1), maxActive)
	default:
		return &wharf.Failure{Code: codeSettings, Message: fmt.Sprintf("the setting skill_match.strategy of the agent is %q; it is metadata, host or embedding", v.set.Strategy)}
	}
	return nil
}

// turn activates before a question the skills that help now, and deactivates the others.
func (v *activation) turn(iteration int, prompt string, box *toolbox) {
	if v.skills == nil {
		return
	}
	key := prompt + "\x00" + strings.Join(v.files, "\x00") + "\x00" + strings.Join(v.read, "\x00")
	if key == v.asked {
		return
	}
	v.asked = key
	wanted := v.wanted(prompt)
	v.active = slices.DeleteFunc(v.active, func(s activeSkill) bool {
		gone := !slices.ContainsFunc(wanted, func(m matched) bool { return m.name == s.Name })
		if gone {
			_ = wharf.Tell(wharf.SkillDeactivated, wharf.SkillChange{SkillName: s.Name, Iteration: iteration})
		}
		return gone
	})
	for _, m := range wanted {
		v.activate(iteration, m)
	}
	v.narrow(box)
}

// wanted returns the skills that are to be active: those that the model has read, and the best matches.
func (v *activation) wanted(prompt string) []matched {
	var wanted []matched
	for _, name := range v.read {
		wanted = append(wanted, matched{name, 0, "read by the model"})
	}
	for _, m := range v.matches(prompt) {
		known := slices.ContainsFunc(v.skills, func(s wharf.Skill) bool { return s.Name == m.name })
		twice := slices.ContainsFunc(wanted, func(o matched) bool { return o.name == m.name })
		if known && !twice && m.score >= v.set.MinScore && len(wanted) < v.set.TopN {
			wanted = append(wanted, m)
		}
	}
	return wanted[:min(len(wanted), maxActive)]
}

// matches returns the matches, the best first. What the host says is advice: where it says nothing the
// agent goes by what the skills say of themselves.
func (v *activation) matches(prompt string) []matched {
	if v.set.Strategy != matchMetadata {
		matches, err := v.askHost(prompt)
		if err == nil {
			return matches
		}
		if !v.warned {
			v.warned = true
			_ = wharf.Log(wharf.LevelWarn, "agent.skill_match: the host matches no skills, and what they say of themselves counts: %v", err)
		}
	}
	matches, _ := metadata{}.match(prompt, v.files, v.skills)
	return matches
}

var errNoHost = errors.New("it cannot be asked")

func (v *activation) askHost(prompt string) ([]matched, error) {
	if v.host == nil {
		return nil, errNoHost
	}
	matches, err := v.host.match(prompt, v.files, v.skills)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(matches, byScore)
	return matches, nil
}

func byScore(a, b matched) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	}
	return 0
}

// client has the client that the Task is of match, if there is one that does.
type client struct{}

func (client) match(prompt string, files []string, skills []wharf.Skill) (matches []matched, err error) {
	r := wharf.SkillMatchRequest{Prompt: prompt, WorkingFiles: files, Strategy: matchHost, Candidates: []wharf.SkillCandidate{}}
	for _, s := range skills {
		r.Candidates = append(r.Candidates, wharf.SkillCandidate{Name: s.Name, Description: s.Description, WhenToUse: s.WhenToUse, Paths: s.Paths})
	}
	ranked, err := wharf.MatchSkills(r)
	if err != nil {
		return nil, err
	}
	if ranked.By != matchHost {
		return nil, errNoHost
	}
	for _, m := range ranked.Matches {
		matches = append(matches, matched{m.Name, m.Score, m.Reason})
	}
	return matches, nil
}

// metadata matches by what skills say of themselves: name, description, when to use them, and paths.
type metadata struct{}

func (metadata) match(prompt string, files []string, skills []wharf.Skill) ([]matched, error) {
	var r ranking
	for _, s := range skills {
		r.add(weighted{s.Name, 3}, weighted{s.WhenToUse, 2}, weighted{s.Description, 1})
	}
	const byPath = 10 // more than words weigh
	scores, reasons := r.scores(prompt), make([]string, len(skills))
	for i, s := range skills {
		reasons[i] = "its description fits what is asked"
		if pattern, file := firstFit(s.Paths, files); pattern != "" {
			scores[i] += byPath
			reasons[i] = fmt.Sprintf("its path %s fits %s", pattern, file)
		}
	}
	var out []matched
	for _, i := range ordered(scores) {
		out = append(out, matched{skills[i].Name, scores[i], reasons[i]})
	}
	return out, nil
}

func firstFit(patterns, files []string) (pattern, file string) {
	for _, p := range patterns {
		for _, f := range files {
			if fits(strings.Split(strings.TrimPrefix(p, "/"), "/"), strings.Split(strings.TrimPrefix(f, "/"), "/")) {
				return p, f
			}
		}
	}
	return "", ""
}

// fits reports whether a pattern fits a path, both in their parts. The part ** stands for any number of
// parts, and a pattern of one part for a name anywhere. The node, which matches skills for clients, has the same:
// testdata/paths.json holds both to it.
func fits(pattern, file []string) bool {
	if len(pattern) == 1 && pattern[0] != "**" {
		ok, _ := path.Match(pattern[0], file[len(file)-1])
		return ok && pattern[0] != ""
	}
	reach := make([]bool, len(file)+1) // the parts of the file up to there fit the pattern so far
	reach[0] = true
	for _, p := range pattern {
		next := make([]bool, len(file)+1)
		for i, there := range reach {
			if p == "**" {
				next[i] = there || i > 0 && next[i-1]
				continue
			}
			if there && i < len(file) {
				next[i+1], _ = path.Match(p, file[i])
			}
		}
		reach = next
	}
	return reach[len(file)]
}

// maxInstructions is how much of a skill's instructions is in the prompt, in bytes.
const maxInstructions = 32 << 10

func (v *activation) activate(iteration int, m matched) {
	if slices.ContainsFunc(v.active, func(s activeSkill) bool { return s.Name == m.name }) {
		return
	}
	i := slices.IndexFunc(v.skills, func(s wharf.Skill) bool { return s.Name == m.name })
	if i < 0 {
		return
	}
	s := activeSkill{Skill: v.skills[i]}
	if file, err := wharf.ReadSkill(wharf.SkillRequest{Skill: s.Name}); err == nil {
		s.text = shortened(file.Text, maxInstructions)
	}
	v.active = append(v.active, s)
	_ = wharf.Tell(wharf.SkillActivated, wharf.SkillChange{SkillName: s.Name, Iteration: iteration, Reason: m.reason})
	if len(s.AllowedTools) > 0 && !v.set.KeepAll {
		_ = wharf.Tell(wharf.SkillScopeTools, wharf.ToolScope{SkillName: s.Name, AllowedTools: s.AllowedTools})
	}
}

// section is what the prompt says of the skills that are active.
func (v *activation) section() string {
	var b strings.Builder
	for _, s := range v.active {
		if s.text != "" {
			fmt.Fprintf(&b, "<skill name=%q>\n%s\n</skill>\n", s.Name, strings.TrimSpace(s.text))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "These skills are active. Follow their instructions as far as they are about what you do.\n" + strings.TrimSpace(b.String())
}

// narrow offers the tools that the active skills ask for. One that asks for none needs any, and names of
// which no tool is known are another harness's: neither narrows anything.
func (v *activation) narrow(box *toolbox) {
	before := v.offered
	v.offered = nil
	var allowed []string
	for _, s := range v.active {
		if len(s.AllowedTools) == 0 || v.set.KeepAll {
			allowed = nil
			break
		}
		allowed = append(allowed, s.AllowedTools...)
	}
	var removed []string
	if len(allowed) > 0 {
		v.offered, removed = box.narrowed(allowed)
	}
	if len(removed) == 0 {
		v.offered = nil
		return
	}
	if slices.Equal(before, v.offered) {
		return
	}
	told := wharf.Narrowing{Reason: "active_skills", Policy: "allowed_tools", RemovedTools: some(removed), RemainingTools: some(v.offered)}
	for _, name := range told.RemovedTools {
		told.RemovedToolDetails = append(told.RemovedToolDetails, wharf.ToolDetail{Name: name, Reason: "no active skill asks for it"})
	}
	_ = wharf.Tell(wharf.SkillNarrow, told)
}

// some returns as many names as an event has room for.
func some(names []string) []string {
	const most = 100
	return append([]string{}, names[:min(len(names), most)]...)
}

// offers reports whether the model may call a tool, as far as the active skills say.
func (v *activation) offers(name string) bool {
	return v.offered == nil || slices.Contains(v.offered, name)
}

// saw remembers the files that a call is about, and the skill that it reads.
func (v *activation) saw(tool wharf.Tool, arguments json.RawMessage) {
	if v.skills == nil {
		return
	}
	var named struct {
		Path  string `json:"path"`
		File  string `json:"file_path"`
		Skill string `json:"skill"`
	}
	if json.Unmarshal(arguments, &named) != nil {
		return
	}
	if readsSkills(tool) {
		if !slices.Contains(v.read, named.Skill) && slices.ContainsFunc(v.skills, func(s wharf.Skill) bool { return s.Name == named.Skill }) {
			v.read = append(v.read, named.Skill)
		}
		return
	}
	const most = 20
	if file := first(named.Path, named.File); file != "" && !slices.Contains(v.files, file) {
		v.files = append(v.files, file)
		v.files = v.files[max(0, len(v.files)-most):]
	}
}

// narrowed returns the names of the tools that are asked for by any of their names, and the others. Those
// that an agent needs whatever it does stay. Where nothing is asked for that there is, nothing is removed.
func (b *toolbox) narrowed(allowed []string) (kept, removed []string) {
	found := false
	for _, t := range b.offered {
		tool := b.byName[t.Name]
		asked := slices.ContainsFunc(allowed, func(a string) bool { return means(a, t.Name, tool) })
		found = found || asked
		if asked || setsPlan(tool) || readsSkills(tool) || tool.Server == "host" && tool.Name == "ask" {
			kept = append(kept, t.Name)
		} else {
			removed = append(removed, t.Name)
		}
	}
	if !found {
		return nil, nil
	}
	return kept, removed
}

// hostTools are the names by which other harnesses know what the host's tools do.
var hostTools = map[string]string{
	"read": "file_read", "write": "file_write", "edit": "file_edit", "multiedit": "file_edit", "glob": "file_search", "grep": "file_search",
	"ls": "file_list", "todowrite": "plan_set", "askuserquestion": "ask", "skill": "skill_read",
}

// means reports whether a name in a skill stands for a tool: server:name, its own name, or what a model or
// another harness calls it. A * at its end stands for anything.
func means(asked, modelName string, tool wharf.Tool) bool {
	asked, _, _ = strings.Cut(asked, "(") // what is in parentheses says which calls
	if host, ok := hostTools[strings.ToLower(asked)]; ok && tool.Server == "host" {
		return tool.Name == host
	}
	if prefix, ok := strings.CutSuffix(asked, "*"); ok {
		return strings.HasPrefix(tool.Server+":"+tool.Name, prefix)
	}
	return asked == tool.Server+":"+tool.Name || asked == tool.Name || strings.TrimPrefix(asked, "mcp__") == modelName
}
