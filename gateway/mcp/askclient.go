//lint:file-ignore SA1019 samplings and roots are deprecated, and offered as long as clients have them

package mcp

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
)

// Questions that the client itself answers, and not its user: what its model says, and which folders may be
// worked in. Both are deprecated by SEP-2577, and offered as long as clients have them.

func canSample(c *sdk.ClientCapabilities, p *abi.PermissionRequest) bool {
	if c == nil || c.Sampling == nil {
		return false
	}
	var of struct {
		Tools []jsontext.Value `json:"tools"`
	}
	_ = json.Unmarshal(p.Params, &of) // what cannot be read has no tools either
	return len(of.Tools) == 0 || c.Sampling.Tools != nil
}

func askSampling(p *abi.PermissionRequest) sdk.InputRequest {
	params := &sdk.CreateMessageWithToolsParams{}
	_ = json.Unmarshal(p.Params, params) // they were held against the protocol's schema when they were asked
	return params
}

func sample(ctx context.Context, s *sdk.ServerSession, asked sdk.InputRequest) (sdk.InputResponse, error) {
	p, ok := asked.(*sdk.CreateMessageWithToolsParams)
	if !ok {
		return nil, fmt.Errorf("asking for a sampling: %T is none", asked)
	}
	return s.CreateMessageWithTools(ctx, p)
}

func sampled(_ *abi.PermissionRequest, r sdk.InputResponse) (abi.RespondRequest, bool) {
	said, ok := r.(*sdk.CreateMessageWithToolsResult)
	if !ok || said == nil {
		return abi.RespondRequest{}, false
	}
	return answering(said)
}

func canListRoots(c *sdk.ClientCapabilities, _ *abi.PermissionRequest) bool {
	return c != nil && c.RootsV2 != nil
}

func askRoots(*abi.PermissionRequest) sdk.InputRequest { return &sdk.ListRootsParams{} }

func listRoots(ctx context.Context, s *sdk.ServerSession, asked sdk.InputRequest) (sdk.InputResponse, error) {
	p, ok := asked.(*sdk.ListRootsParams)
	if !ok {
		return nil, fmt.Errorf("asking for roots: %T does not", asked)
	}
	return s.ListRoots(ctx, p)
}

func rootsGiven(_ *abi.PermissionRequest, r sdk.InputResponse) (abi.RespondRequest, bool) {
	given, ok := r.(*sdk.ListRootsResult)
	if !ok || given == nil {
		return abi.RespondRequest{}, false
	}
	return answering(given)
}

// answering answers with a json part.
func answering(v any) (abi.RespondRequest, bool) {
	value, err := json.Marshal(v, json.Deterministic(true))
	return saying(abi.Part{Type: abi.PartJSON, Value: value}), err == nil
}

// mostTold is how much of a name or a version is told, in bytes.
const mostTold = 128

// client is what the client of a request has said of itself, for plugins to ask.
func (q *request) client() *abi.TaskClient {
	of := &abi.TaskClient{}
	if in, ok := q.in.(interface{ ProtocolVersion() string }); ok { // a *sdk.ServerRequest of any parameters
		of.Protocol = clipped("mcp/" + in.ProtocolVersion())
	}
	if info := q.saysOfItself().info; info != nil {
		of.Name, of.Version = clipped(info.Name), clipped(info.Version)
	}
	c := q.capabilities()
	for _, has := range []struct {
		capability string
		is         bool
	}{
		{abi.ClientElicitsForm, canForm(c, nil)},
		{abi.ClientElicitsURL, c != nil && c.Elicitation != nil && c.Elicitation.URL != nil},
		{abi.ClientSamples, c != nil && c.Sampling != nil},
		{abi.ClientSamplesTools, c != nil && c.Sampling != nil && c.Sampling.Tools != nil},
		{abi.ClientHasRoots, canListRoots(c, nil)},
	} {
		if has.is {
			of.Capabilities = append(of.Capabilities, has.capability)
		}
	}
	return of
}

// clipped returns the beginning of a text, whole characters of it but for those that control something.
func clipped(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), mostTold)], "")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
