package a2a

import (
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/agentcard"
)

// Where clients look for a card: of 1.0 and late 0.3, and of those before.
const (
	cardPath    = "/.well-known/agent-card.json"
	oldCardPath = "/.well-known/agent.json"
)

func (a *Adapter) cardRoutes() []gateway.Route {
	var all []gateway.Route
	for name, path := range map[string]string{"agentCard": cardPath, "old.agentCard": oldCardPath} {
		all = append(all, gateway.Route{Method: fasthttp.MethodGet, Path: path, Operation: name, Tag: "a2a", Summary: "Describe the node to clients of A2A",
			Public: true, Status: fasthttp.StatusOK, Handle: a.agentCard})
	}
	return all
}

func (a *Adapter) cardMethods() map[string]method {
	return map[string]method{
		"GetExtendedAgentCard":               {in: v10, do: (*call).extendedCard},
		"agent/getAuthenticatedExtendedCard": {in: v03, do: (*call).extendedCard},
	}
}

// card describes the node with some Skills.
func (a *Adapter) card(base string, skills []abi.Skill) (*agentcard.Card, error) {
	return agentcard.New(a.core, agentcard.Node{Name: a.cfg.Node, Version: a.cfg.Version, Base: base, Skills: skills})
}

// agentCard is public, so it holds nothing of a tenant.
func (a *Adapter) agentCard(r *gateway.Request) error {
	card, err := a.card(r.BaseURL(), a.core.PublicSkills())
	if err != nil {
		return err
	}
	text, err := json.Marshal(card)
	if err != nil {
		return err
	}
	r.SetHeader("Cache-Control", "public, max-age=60")
	r.Send(fasthttp.StatusOK, text)
	return nil
}

// mostSkills is how many Skills of a tenant are in its card.
const mostSkills = 1000

// extendedCard has the Skills of the caller's tenant too, as far as the caller may list them.
func (c *call) extendedCard() (any, error) {
	skills := slices.Clone(c.core.PublicSkills())
	known := map[string]bool{}
	for i := range skills {
		known[skills[i].ID] = true
	}
	for p := (api.Page{Limit: 200, Reversed: true}); c.r.Caller.Can("skills:read") && len(skills) < mostSkills; {
		list, err := c.core.List(c.r.Context(), c.r.Caller, abi.ObjectSkill, api.Filter{}, p)
		if err != nil {
			return nil, err
		}
		for _, view := range list.Views {
			s, err := as[abi.Skill](view)
			if err != nil {
				return nil, err
			}
			if !known[s.ID] {
				skills = append(skills, s)
			}
		}
		if !list.More {
			break
		}
		p.After = list.Next
	}
	return c.card(c.r.BaseURL(), skills)
}
