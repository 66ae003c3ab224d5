package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// school is an office whose Task has skills, and a model that calls tools by a script.
func school(set any, answers ...wharf.ModelAnswer) (*wharftest.Host, *scripted) {
	h, model := office(answers...)
	h.Tools = append(h.Tools, wharf.Tool{Server: "host", Name: "skill_read", ReadOnly: true}, wharf.Tool{Server: "host", Name: "file_read", ReadOnly: true})
	h.Skills = []wharf.Skill{
		{Name: "pdf", Description: "Reads and fills PDF forms.", AllowedTools: []string{"Read", "Bash(pdftk:*)"}},
		{Name: "deploy", Description: "Ships a release.", WhenToUse: "Somebody wants a release in production.", Paths: []string{"infra/**", "Dockerfile"}},
		{Name: "review", Description: "Reviews code."},
	}
	h.SkillFiles = map[string]string{"pdf/SKILL.md": "Look at the form first.", "deploy/SKILL.md": "Never on Fridays.", "review/SKILL.md": "Be kind."}
	if set != nil {
		h.Config = map[string]any{"skill_match": set}
	}
	return h, model
}

func toolNames(r wharf.ModelRequest) string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// kinds lists what was told, but for turns: the kind and the skill.
func kinds(h *wharftest.Host) string {
	var all []string
	for _, ev := range h.Told {
		var data struct {
			SkillName string `json:"skill_name"`
		}
		if ev.Kind == wharf.TurnStarted || ev.Kind == wharf.TurnEnded {
			continue
		}
		_ = json.Unmarshal(ev.Data, &data)
		all = append(all, strings.TrimSpace(string(ev.Kind)+" "+data.SkillName))
	}
	return strings.Join(all, ", ")
}

// Skills that fit what is asked are active from the first question on, and the tools are those that they ask for.
func TestSkillsAreMatched(t *testing.T) {
	for name, c := range map[string]struct {
		set          any
		asked        string
		told, offers string
		says         string // in the prompt
	}{
		"not asked for": {nil, "Fill the PDF form", "", "files__read_file files__delete host__skill_read host__file_read", ""},
		"one":           {map[string]any{"strategy": "metadata", "top_n": 1}, "Fill the PDF form", "skill_activated pdf, skill_scope_tools pdf, skill_narrow", "host__skill_read host__file_read", "Look at the form first."},
		"none":          {map[string]any{"strategy": "metadata"}, "What is the weather?", "", "files__read_file files__delete host__skill_read host__file_read", ""},
		"one of two asks for no tools": {map[string]any{"strategy": "metadata"}, "Put the PDF form into production",
			"skill_activated pdf, skill_scope_tools pdf, skill_activated deploy", "files__read_file files__delete host__skill_read host__file_read", "Never on Fridays."},
		"tools are kept": {map[string]any{"strategy": "metadata", "top_n": 1, "keep_tools": true}, "Fill the PDF form", "skill_activated pdf", "files__read_file files__delete host__skill_read host__file_read", "Look at the form first."},
		"a high bar":     {map[string]any{"strategy": "metadata", "min_score": 1000}, "Fill the PDF form", "", "files__read_file files__delete host__skill_read host__file_read", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, model := school(c.set, says("ok"))
			if outcome := h.Text(handle, c.asked); outcome.Failure != nil {
				t.Fatal(outcome.Failure)
			}
			if kinds(h) != c.told || toolNames(model.asked[0]) != c.offers {
				t.Errorf("told %s; offered %s", kinds(h), toolNames(model.asked[0]))
			}
			if active := strings.Contains(model.asked[0].System, "<skill name="); active != (c.says != "") || !strings.Contains(model.asked[0].System, c.says) {
				t.Errorf("the prompt is %s", model.asked[0].System)
			}
		})
	}
	h, _ := school(map[string]any{"strategy": "tarot"})
	if failure := h.Text(handle, "go").Failure; failure == nil || failure.Code != codeSettings {
		t.Errorf("%+v", failure)
	}
}

// While the Task goes on, skills come by the files that are worked on and by what the model reads, and a tool that
// is narrowed away is not called.
func TestSkillsComeAndGo(t *testing.T) {
	h, model := school(map[string]any{"strategy": "metadata", "top_n": 1},
		wants(toolCall("c1", "files__delete", `{"path":"x"}`), toolCall("c2", "host__file_read", `{"path":"infra/a/b.tf"}`)),
		wants(toolCall("c3", "host__skill_read", `{"skill":"review"}`)), says("ok"))
	if outcome := h.Text(handle, "Fill the PDF form"); outcome.Failure != nil {
		t.Fatal(outcome.Failure)
	}
	if want := "skill_activated pdf, skill_scope_tools pdf, skill_narrow, skill_deactivated pdf, skill_activated deploy, skill_deactivated deploy, skill_activated review"; kinds(h) != want {
		t.Errorf("told %s", kinds(h))
	}
	if got := model.asked[1].Messages[2]; !got.IsError || !strings.Contains(got.Text, "no skill that is active asks for") {
		t.Errorf("the tool that is not offered has answered %+v", got)
	}
	changes := told[wharf.SkillChange](t, h, wharf.SkillActivated)
	if changes[0].Iteration != 1 || changes[1].Iteration != 2 || changes[1].Reason != "its path infra/** fits infra/a/b.tf" || changes[2].Reason != "read by the model" {
		t.Errorf("%+v", changes)
	}
	if strings.Contains(model.asked[2].System, "Never on Fridays.") || !strings.Contains(model.asked[2].System, "Be kind.") {
		t.Errorf("at the end the prompt is %s", model.asked[2].System)
	}
}

// advice is a host that matches skills.
type advice struct {
	matches []matched
	err     error
	asked   []string
}

func (a *advice) match(prompt string, files []string, skills []wharf.Skill) ([]matched, error) {
	a.asked = append(a.asked, fmt.Sprint(prompt, files, len(skills)))
	return a.matches, a.err
}

// What the host says of skills is advice: names that it makes up are left out, the highest score comes first, and
// without its answer the skills' own words count.
func TestTheHostMatches(t *testing.T) {
	h, _ := school(nil)
	skills := h.Skills
	for name, c := range map[string]struct {
		host matcher
		want string
	}{
		"by score": {&advice{matches: []matched{{"pdf", 0.1, "r"}, {"unknown", 9, "r"}, {"deploy", 0.5, "r"}, {"deploy", 0.4, "r"}}}, "deploy pdf"},
		"it fails": {&advice{err: errors.New("away")}, "review"},
		"no host":  {nil, "review"},
		"none fit": {&advice{}, ""},
	} {
		v := activation{skills: skills, host: c.host, set: skillMatch{Strategy: matchHost, TopN: 3}}
		var got []string
		_ = (&wharftest.Host{}).Text(func(*wharf.Task) (wharf.Result, error) {
			for _, m := range v.wanted("Look through my code") {
				got = append(got, m.name)
			}
			return wharf.Result{}, nil
		}, "x")
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A pattern fits the same files as the node says.
func TestFits(t *testing.T) {
	text, err := os.ReadFile("testdata/paths.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []struct {
		Pattern string   `json:"pattern"`
		Fits    []string `json:"fits"`
		Not     []string `json:"fits_not"`
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	for _, c := range table {
		for i, file := range slices.Concat(c.Fits, c.Not) {
			if p, _ := firstFit([]string{c.Pattern}, []string{file}); (p == c.Pattern && p != "") != (i < len(c.Fits)) {
				t.Errorf("%s %s: %v", c.Pattern, file, i >= len(c.Fits))
			}
		}
	}
}

// The host is asked over its call: what it says counts, and where it says nothing, is not there or fails, what the
// skills say of themselves does, with one warning.
func TestTheHostIsAsked(t *testing.T) {
	const falls = "skill_activated deploy"
	by := func(by string, matches ...wharf.SkillMatch) func(wharf.SkillMatchRequest) (wharf.SkillMatches, error) {
		return func(wharf.SkillMatchRequest) (wharf.SkillMatches, error) {
			return wharf.SkillMatches{By: by, Matches: matches}, nil
		}
	}
	for name, c := range map[string]struct {
		host  func(wharf.SkillMatchRequest) (wharf.SkillMatches, error)
		told  string
		warns int
	}{
		"it matches":       {by("host", wharf.SkillMatch{Name: "review", Score: 0.2, Reason: "it says so"}, wharf.SkillMatch{Name: "unknown", Score: 5}), "skill_activated review", 0},
		"it matches none":  {by("host"), "", 0},
		"nobody does":      {nil, falls, 1},
		"the node does it": {by("node", wharf.SkillMatch{Name: "review", Score: 3}), falls, 1},
		"it fails": {func(wharf.SkillMatchRequest) (wharf.SkillMatches, error) {
			return wharf.SkillMatches{}, &wharf.Error{Status: wharf.StatusUnavailable, Code: "gone", Message: "it has left"}
		}, falls, 1},
	} {
		for _, strategy := range []string{"host", "embedding"} {
			h, _ := school(map[string]any{"strategy": strategy}, wants(toolCall("c1", "files__read_file", `{"path":"notes/a.txt"}`)), says("ok"))
			var asked []wharf.SkillMatchRequest
			if host := c.host; host != nil {
				h.MatchSkills = func(r wharf.SkillMatchRequest) (wharf.SkillMatches, error) {
					asked = append(asked, r)
					return host(r)
				}
			}
			if outcome := h.Text(handle, "Put a release into production"); outcome.Failure != nil {
				t.Fatal(outcome.Failure)
			}
			if kinds(h) != c.told {
				t.Errorf("%s, %s: told %s", name, strategy, kinds(h))
			}
			warned := 0
			for _, l := range h.Logs {
				if l.Level == wharf.LevelWarn && strings.Contains(l.Message, "agent.skill_match") {
					warned++
				}
			}
			if warned != c.warns {
				t.Errorf("%s, %s: warned %d times: %+v", name, strategy, warned, h.Logs)
			}
			if c.host == nil {
				continue
			}
			if len(asked) != 2 || asked[0].Prompt != "Put a release into production" || asked[0].Strategy != "host" || len(asked[0].WorkingFiles) != 0 ||
				len(asked[0].Candidates) != 3 || asked[0].Candidates[1].WhenToUse == "" || len(asked[0].Candidates[1].Paths) != 2 || !slices.Equal(asked[1].WorkingFiles, []string{"notes/a.txt"}) {
				t.Errorf("%s, %s: asked %+v", name, strategy, asked)
			}
		}
	}
}

// Every way to name a tool in a skill is understood.
func TestMeans(t *testing.T) {
	read := wharf.Tool{Server: "host", Name: "file_read"}
	issues := wharf.Tool{Server: "gh", Name: "issues"}
	for _, name := range []string{"Read", "read", "host:file_read", "file_read", "host:*", "host__file_read", "*"} {
		if !means(name, "host__file_read", read) {
			t.Errorf("%s", name)
		}
	}
	for _, name := range []string{"gh:issues", "issues", "mcp__gh__issues", "gh:*", "issues(list:*)"} {
		if !means(name, "gh__issues", issues) || means(name, "host__file_read", read) {
			t.Errorf("%s", name)
		}
	}
	if slices.ContainsFunc([]string{"Write", "", "read_file", "Bash"}, func(n string) bool { return means(n, "host__file_read", read) }) {
		t.Error("other names mean it, too")
	}
}
