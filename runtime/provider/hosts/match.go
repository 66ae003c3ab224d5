package hosts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/ranking"
	"github.com/wharf-dev/wharf/storage"
)

// Skills gives Tasks the skills of their Session's clients beside those that they have. It is safe for
// concurrent use.
type Skills struct {
	Hosts    *Hosts // nil for none
	TenantID func(storage.Tenant) string
	MostTold int64 // bytes of a skill's instructions that one call reads
}

// The strategies of skill.match: the node ranks by what is said of the skills; a client does by what
// it likes, of which embedding is another name.
const (
	strategyMetadata  = "metadata"
	strategyHost      = "host"
	strategyEmbedding = "embedding"
)

// The most candidates that are ranked at one time.
const maxCandidates = 1000

// HostCalls are the calls of plugins that are answered here.
func (s *Skills) HostCalls() map[string]hostcall.Func {
	return map[string]hostcall.Func{abi.CallSkillMatch: hostcall.Of(s.match)}
}

// of returns the clients of a call's Session, in the order in which they are asked.
func (s *Skills) of(c *hostcall.Call) []*Host {
	if s.Hosts == nil {
		return nil
	}
	return s.Hosts.of(s.TenantID(c.Tenant), c.Task.SessionID)
}

// match ranks skills by how well they fit.
func (s *Skills) match(ctx context.Context, c *hostcall.Call, req *abi.CallSkillMatchRequest) (hostcall.Answer, error) {
	if len(req.Candidates) > maxCandidates {
		return hostcall.Answer{}, provider.Malformed(abi.InvalidParam("candidates", "at most %d skills are ranked", maxCandidates))
	}
	var asked bool
	switch req.Strategy {
	case "", strategyMetadata:
	case strategyHost, strategyEmbedding:
		asked = true
	default:
		return hostcall.Answer{}, provider.Malformed(abi.InvalidParam("strategy", "the strategies are %s, %s and %s", strategyMetadata, strategyHost, strategyEmbedding))
	}
	var answer abi.CallSkillMatchAnswer
	candidates := req.Candidates
	if candidates == nil {
		answer.Skills = s.known(ctx, c)
		for i := range answer.Skills {
			candidates = append(candidates, answer.Skills[i].SkillCandidate)
		}
	}
	var warning []ledger.Record
	if asked {
		matches, err := s.askHost(ctx, c, req, candidates)
		switch {
		case ctx.Err() != nil:
			return hostcall.Answer{}, context.Cause(ctx)
		case err != nil:
			warning = []ledger.Record{warn(c, err)}
		case matches != nil:
			answer.Matches, answer.By = matches, abi.MatchedByHost
		}
	}
	if answer.By == "" {
		answer.Matches, answer.By = rank(req, candidates), abi.MatchedByNode
	}
	told, err := hostcall.Encoded(&answer)
	told.Extra = warning
	return told, err
}

// warn tells that a client has not ranked what it was asked to, in one batch with the call.
func warn(c *hostcall.Call, why error) ledger.Record {
	return ledger.Record{Kind: abi.EventLog, Object: abi.ObjectTask, ID: c.Task.ID, Payload: &abi.CallLogRequest{
		Level: "warn", Message: "agent.skill_match: the client has not ranked the skills, so the node has: " + short(why.Error())}}
}

// known returns the skills that the Task has, and those of its Session's clients. A name that the Task
// has is the Task's; one of several clients the first's.
func (s *Skills) known(ctx context.Context, c *hostcall.Call) []abi.KnownSkill {
	all, seen := []abi.KnownSkill{}, map[string]bool{}
	for _, has := range c.Run.Skills() {
		seen[has.Name] = true
		all = append(all, abi.KnownSkill{Source: abi.SkillInstalled, SkillCandidate: abi.SkillCandidate{Name: has.Name, Description: has.Description}})
	}
	for _, h := range s.of(c) {
		list, err := h.listSkills(ctx)
		if err != nil && ctx.Err() == nil {
			h.all.cfg.Log.Warn("the skills of a client cannot be listed", "session", h.client.Session, "error", err)
		}
		for i := range list {
			if l := &list[i]; !seen[l.Name] && len(all) < maxCandidates {
				seen[l.Name] = true
				all = append(all, abi.KnownSkill{Source: abi.SkillOfHost, SkillCandidate: abi.SkillCandidate{
					Name: l.Name, Description: l.Description, WhenToUse: l.Manifest.WhenToUse, Paths: l.Manifest.Paths}})
			}
		}
	}
	return all
}

// matchParams are those of skill/match.
type matchParams struct {
	Strategy     string              `json:"strategy"`
	Prompt       string              `json:"prompt"`
	WorkingFiles []string            `json:"working_files"`
	Candidates   []matchedCandidates `json:"candidates"`
}

type matchedCandidates struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	WhenToUse   string   `json:"when_to_use"`
	Paths       []string `json:"paths"`
}

// askHost has a client rank the candidates; nil when there is none that does.
func (s *Skills) askHost(ctx context.Context, c *hostcall.Call, req *abi.CallSkillMatchRequest, candidates []abi.SkillCandidate) ([]abi.SkillMatch, error) {
	all := s.of(c)
	i := slices.IndexFunc(all, func(h *Host) bool { return h.client.Declared.declares(MethodMatchSkills) })
	if i < 0 {
		return nil, nil
	}
	p := matchParams{Strategy: strategyHost, Prompt: req.Prompt, WorkingFiles: append([]string{}, req.WorkingFiles...), Candidates: []matchedCandidates{}}
	for _, of := range candidates {
		p.Candidates = append(p.Candidates, matchedCandidates{of.Name, of.Description, of.WhenToUse, append([]string{}, of.Paths...)})
	}
	within, cancel := context.WithTimeoutCause(ctx, listTime, errSilent)
	defer cancel()
	answer, err := all[i].askHarn(within, MethodMatchSkills, p)
	if err != nil {
		return nil, err
	}
	matches, err := readMatches(answer, candidates)
	if err != nil {
		return nil, &unreadable{MethodMatchSkills, err}
	}
	best(matches)
	return matches, nil
}

// best puts the best matches first; of equals the order stays.
func best(matches []abi.SkillMatch) {
	slices.SortStableFunc(matches, func(a, b abi.SkillMatch) int { return cmp.Compare(b.Score, a.Score) })
}

// rank is what the node makes of it: how well the words fit, and a whole point more for a skill that
// is for one of the files which are worked on. What fits in nothing is no match.
func rank(req *abi.CallSkillMatchRequest, candidates []abi.SkillCandidate) []abi.SkillMatch {
	texts := make([]string, len(candidates))
	for i, of := range candidates {
		texts[i] = strings.Join([]string{of.Name, of.Description, of.WhenToUse}, " ")
	}
	matches, scores := []abi.SkillMatch{}, ranking.Scores(req.Prompt, texts)
	for i, of := range candidates {
		m := abi.SkillMatch{Name: of.Name, Score: scores[i], Reason: "its description has words of the prompt"}
		if pattern, file := forFile(of.Paths, req.WorkingFiles); pattern != "" {
			m.Score, m.Reason = m.Score+1, fmt.Sprintf("its path %.100q is that of %.200q", pattern, file)
		}
		if m.Score > 0 {
			matches = append(matches, m)
		}
	}
	best(matches)
	return matches
}

// forFile returns the first pattern that a file matches, and the file.
func forFile(patterns, files []string) (pattern, file string) {
	for _, pattern := range patterns {
		for _, file := range files {
			if fits(pattern, file) {
				return pattern, file
			}
		}
	}
	return "", ""
}

// skillFile is the file that has a skill's instructions.
const skillFile = "SKILL.md"

// Read reads the instructions of a skill that a client of the Session has; nil when none has it.
func (s *Skills) Read(ctx context.Context, c *hostcall.Call, name, path string) (*abi.CallSkillReadAnswer, error) {
	for _, h := range s.of(c) {
		list, err := h.listSkills(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		i := slices.IndexFunc(list, func(l Skill) bool { return l.Name == name })
		if err != nil || i < 0 || !h.client.Declared.declares(MethodSkill) {
			continue
		}
		if path != "" && path != skillFile {
			return nil, provider.Refuse(abi.CallNotFound, "unknown_file", fmt.Sprintf("the skill %q is a client's, and has the file %s alone", name, skillFile))
		}
		return h.fetch(ctx, &list[i], s.MostTold)
	}
	return nil, nil
}

// fetch asks the client for a skill that it has listed.
func (h *Host) fetch(ctx context.Context, l *Skill, most int64) (*abi.CallSkillReadAnswer, error) {
	within, cancel := context.WithTimeoutCause(ctx, listTime, errSilent)
	defer cancel()
	answer, err := h.askHarn(within, MethodSkill, map[string]string{"id": l.ID})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var got Skill
	if err == nil {
		got, err = readSkill(answer)
	}
	switch {
	case err != nil:
		return nil, provider.Refuse(abi.CallUnavailable, "skill_unavailable", short(fmt.Sprintf("the client has not given the skill %q: %v", l.Name, err)))
	case int64(len(got.Body)) > most:
		return nil, provider.Refuse(abi.CallTooLarge, string(abi.CodePayloadTooLarge), fmt.Sprintf("the skill %q has more than %d bytes, which one call reads", l.Name, most))
	}
	return &abi.CallSkillReadAnswer{Skill: l.Name, Path: skillFile, Text: got.Body, Manifest: &got.Manifest}, nil
}
