package tool

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
)

func (t *Tools) prepareResources(c *provider.Call) (provider.Plan, error) {
	var req abi.CallResourceListRequest
	if err := json.Unmarshal(c.Request, &req); err != nil || req.Server == "" {
		return provider.Plan{}, refuse(abi.CallInvalid, CodeInvalid, `resource.list takes {"server": "...", "kind": "resource|template|prompt"}`)
	}
	read := listOf(req.Kind)
	if read == nil {
		return provider.Plan{}, refuse(abi.CallInvalid, CodeInvalid, "kind is %s, %s or %s", abi.KindResource, abi.KindTemplate, abi.KindPrompt)
	}
	if err := t.checkSource(c, req.Server, policy.Reads(req.Kind)); err != nil {
		return provider.Plan{}, err
	}
	return t.reading(c, req.Server, "listing what "+req.Server+" has", func(ctx context.Context, s Source, _ Limits) ([]byte, error) {
		answer, err := read(ctx, s)
		if err != nil {
			return nil, err
		}
		return json.Marshal(answer, json.Deterministic(true))
	}), nil
}

// listOf returns what reads the list of a kind; nil for none that there is.
func listOf(kind abi.ResourceKind) func(context.Context, Source) (answer abi.CallResourceListAnswer, err error) {
	switch kind {
	case "", abi.KindResource:
		return func(ctx context.Context, s Source) (answer abi.CallResourceListAnswer, err error) {
			answer.Resources, err = s.Resources(ctx)
			return answer, err
		}
	case abi.KindTemplate:
		return func(ctx context.Context, s Source) (answer abi.CallResourceListAnswer, err error) {
			answer.Templates, err = s.Templates(ctx)
			return answer, err
		}
	case abi.KindPrompt:
		return func(ctx context.Context, s Source) (answer abi.CallResourceListAnswer, err error) {
			answer.Prompts, err = s.Prompts(ctx)
			return answer, err
		}
	}
	return nil
}

func (t *Tools) prepareRead(c *provider.Call) (provider.Plan, error) {
	var req abi.CallResourceReadRequest
	if err := json.Unmarshal(c.Request, &req); err != nil || req.Server == "" || req.URI == "" {
		return provider.Plan{}, refuse(abi.CallInvalid, CodeInvalid, `resource.read takes {"server": "...", "uri": "..."}`)
	}
	if err := CheckURI(req.URI); err != nil {
		return provider.Plan{}, refuse(abi.CallInvalid, CodeInvalid, "%v", err)
	}
	if err := t.checkSource(c, req.Server, policy.ReadsResources); err != nil {
		return provider.Plan{}, err
	}
	return t.reading(c, req.Server, "reading a resource of "+req.Server, func(ctx context.Context, s Source, l Limits) ([]byte, error) {
		answer, err := s.ReadResource(ctx, c.Tenant, req.URI)
		if err != nil {
			return nil, err
		}
		return encode(answer, "the resource "+req.URI+" of "+req.Server, l)
	}), nil
}

func (t *Tools) preparePrompt(c *provider.Call) (provider.Plan, error) {
	var req abi.CallPromptGetRequest
	if err := json.Unmarshal(c.Request, &req); err != nil || req.Server == "" || req.Name == "" {
		return provider.Plan{}, refuse(abi.CallInvalid, CodeInvalid, `prompt.get takes {"server": "...", "name": "...", "arguments": {"...": "..."}}`)
	}
	if err := CheckPrompt(req.Name); err != nil {
		return provider.Plan{}, refuse(abi.CallInvalid, CodeInvalid, "%v", err)
	}
	if err := t.checkSource(c, req.Server, policy.ReadsPrompts); err != nil {
		return provider.Plan{}, err
	}
	return t.reading(c, req.Server, "getting a prompt of "+req.Server, func(ctx context.Context, s Source, l Limits) ([]byte, error) {
		answer, err := s.GetPrompt(ctx, c.Tenant, req.Name, req.Arguments)
		if err != nil {
			return nil, err
		}
		return encode(answer, "the prompt "+req.Name+" of "+req.Server, l)
	}), nil
}

// checkSource refuses what a call may not read of a server. name stands for it in grants.
func (t *Tools) checkSource(c *provider.Call, server, name string) error {
	if err := t.checkServer(c, server); err != nil {
		return err
	}
	if !t.may(c, server, name) {
		return refuse(abi.CallDenied, CodeDenied, "the plugin %q may not read that of %q: no entry of grants.%s.tools covers %s:%s",
			c.Plugin, server, c.Plugin, server, name)
	}
	return nil
}

// reading is a plan that reads what a server has, within the time of its calls.
func (t *Tools) reading(c *provider.Call, server, doing string, read func(context.Context, Source, Limits) ([]byte, error)) provider.Plan {
	return provider.Plan{Effect: abi.EffectRead, Do: func(ctx context.Context, _ func(string)) ([]byte, error) {
		s, _ := t.server(c, server)
		if s == nil {
			return nil, gone(server)
		}
		limits := limitsOf(s)
		within, cancel := context.WithTimeout(ctx, limits.Timeout)
		defer cancel()
		answer, err := read(within, sourceOf(server, s), limits)
		if err != nil {
			return nil, verdict(ctx, within, err, doing, limits)
		}
		return answer, nil
	}}
}

func sourceOf(name string, s Server) Source {
	if source, ok := s.(Source); ok {
		return source
	}
	return noSource(name)
}

// noSource is the [Source] of a server that has tools alone, by its name.
type noSource string

// Resources implements [Source].
func (noSource) Resources(context.Context) ([]abi.Resource, error) { return []abi.Resource{}, nil }

// Templates implements [Source].
func (noSource) Templates(context.Context) ([]abi.ResourceTemplate, error) {
	return []abi.ResourceTemplate{}, nil
}

// Prompts implements [Source].
func (noSource) Prompts(context.Context) ([]abi.Prompt, error) { return []abi.Prompt{}, nil }

// ReadResource implements [Source].
func (n noSource) ReadResource(context.Context, string, string) (*abi.CallResourceReadAnswer, error) {
	return nil, hasNone(string(n), "resources")
}

// GetPrompt implements [Source].
func (n noSource) GetPrompt(context.Context, string, string, map[string]string) (*abi.CallPromptGetAnswer, error) {
	return nil, hasNone(string(n), "prompts")
}
