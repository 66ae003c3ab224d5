package waiting

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/skill"
)

// forSeveral says what a call waits for that asks several questions, and the status of the Task
// meanwhile: it is AUTH_REQUIRED as long as the call waits when one of them is for an
// authorization. The wait names each request once it is made.
func forSeveral(w *abi.Waiting, req *abi.CallInputRequestRequest) (abi.TaskStatus, error) {
	if err := checkQuestions(req); err != nil {
		return "", provider.Malformed(err)
	}
	as := abi.TaskInputRequired
	for i := range req.Requests {
		q := &req.Requests[i]
		kind := questionKind(q)
		if kind == abi.PermissionAuthorization {
			as = abi.TaskAuthRequired
		}
		w.Requests = append(w.Requests, abi.WaitingQuestion{Key: q.Key, Kind: kind, Status: abi.PermissionPending})
	}
	return as, nil
}

func questionKind(q *abi.Question) abi.PermissionKind { return cmp.Or(q.Kind, abi.PermissionInput) }

// checkQuestions checks several questions: how many, how large, and that each has what its kind
// needs and nothing that belongs to another.
func checkQuestions(req *abi.CallInputRequestRequest) error {
	if n := len(req.Requests); n == 0 || n > abi.MaxQuestions {
		return abi.InvalidParam("requests", "requests has 1 to %d questions, and these are %d", abi.MaxQuestions, n)
	}
	if req.Prompt != "" || req.Schema != nil {
		return abi.InvalidParam("requests", "a call has requests, or a prompt and a schema, and not both")
	}
	total, keys := 0, map[string]bool{}
	for i := range req.Requests {
		q, at := &req.Requests[i], fmt.Sprintf("requests[%d]", i)
		if err := checkKey(q.Key); err != nil || keys[q.Key] {
			return abi.InvalidParam(at+".key", "%s.key: %s", at, cmp.Or(err, fmt.Errorf("there are two questions %q", q.Key)))
		}
		keys[q.Key] = true
		total += sizeOf(q)
		if err := checkQuestion(q); err != nil {
			return desk.Within(at, err)
		}
	}
	if total > abi.MaxQuestionBytes {
		return abi.InvalidParam("requests", "the questions have %d bytes together, more than %d", total, abi.MaxQuestionBytes)
	}
	return nil
}

func checkKey(key string) error {
	switch {
	case key == "" || len(key) > abi.MaxQuestionKey:
		return fmt.Errorf("a key has 1 to %d bytes", abi.MaxQuestionKey)
	case !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl):
		return fmt.Errorf("%q is no key: it holds control characters, or is no UTF-8", key)
	}
	return nil
}

func sizeOf(q *abi.Question) int {
	n := len(q.Key) + len(q.Prompt) + len(q.Schema) + len(q.Params) + len(q.Provider) + len(q.URL) + len(q.Action) + len(q.Arguments)
	for _, pattern := range q.Approvers {
		n += len(pattern)
	}
	return n
}

func checkQuestion(q *abi.Question) error {
	kind := questionKind(q)
	if err := desk.CheckOneOf("kind", kind, abi.PermissionInput, abi.PermissionAuthorization, abi.PermissionApproval, abi.PermissionSampling, abi.PermissionRoots); err != nil {
		return err
	}
	for _, m := range []struct {
		name  string
		of    abi.PermissionKind
		given bool
	}{
		{"schema", abi.PermissionInput, q.Schema != nil}, {"params", abi.PermissionSampling, q.Params != nil},
		{"provider", abi.PermissionAuthorization, q.Provider != ""}, {"url", abi.PermissionAuthorization, q.URL != ""},
		{"action", abi.PermissionApproval, q.Action != ""}, {"arguments", abi.PermissionApproval, q.Arguments != nil},
		{"quorum", abi.PermissionApproval, q.Quorum != 0}, {"approvers", abi.PermissionApproval, q.Approvers != nil},
	} {
		if m.given && m.of != kind {
			return abi.InvalidParam(m.name, "%s belongs to a question of the kind %s, and this is one of %s", m.name, m.of, kind)
		}
	}
	switch kind {
	case abi.PermissionAuthorization:
		return desk.CheckPresent("provider", q.Provider)
	case abi.PermissionApproval:
		return cmp.Or(desk.CheckPresent("action", q.Action), quorumFits(q.Quorum))
	case abi.PermissionSampling:
		return checkSampling(q.Params)
	case abi.PermissionRoots:
		return nil
	}
	return cmp.Or(desk.CheckPresent("prompt", q.Prompt), schemaFits(q.Schema))
}

func schemaFits(schema []byte) error {
	if schema == nil {
		return nil
	}
	if err := skill.Accept(schema); err != nil {
		return abi.InvalidParam("schema", "schema: %v", err)
	}
	return nil
}

// roundFor returns what a Task asks somebody by a wait, and names the requests in the wait. Who
// may answer is fixed here.
func roundFor(t *abi.Task, w *abi.Waiting, at time.Time, requester string, by Terms) (*Round, error) {
	if len(w.Requests) == 0 {
		if req, err := provider.Asked[abi.CallApprovalRequestRequest](by.Asked, by.Request); err == nil && w.Call == abi.CallApprovalRequest && !w.Gate {
			by.Approvers = req.Approvers
		}
		return &Round{Requests: []*Request{requestFor(t, w, at, requester, by)}}, nil
	}
	req, err := provider.Asked[abi.CallInputRequestRequest](by.Asked, by.Request)
	if err != nil || len(req.Requests) != len(w.Requests) {
		return nil, fmt.Errorf("the questions of call %d are not those that it waits for: %w", w.Index, err)
	}
	r := &Round{}
	for i := range req.Requests {
		q, named := &req.Requests[i], &w.Requests[i]
		one := &abi.Waiting{RequestID: w.RequestID + " " + q.Key, Until: w.Until, Prompt: cmp.Or(q.Prompt, unprompted[named.Kind]), Schema: answerShape(named.Kind, q.Schema),
			URL: q.URL, Action: q.Action, Arguments: q.Arguments.Clone(), Quorum: q.Quorum, Call: callOf[named.Kind]}
		if named.Kind == abi.PermissionAuthorization {
			one.Action = q.Provider
		}
		p := requestFor(t, one, at, requester, Terms{Approvals: by.Approvals, Approvers: q.Approvers, Now: by.Now})
		p.Key, p.Kind, p.Params = q.Key, named.Kind, q.Params.Clone()
		named.PermissionID, w.Until = p.ID, one.Until // the sooner end that an approval has ends all
		r.Requests = append(r.Requests, p)
	}
	for _, p := range r.Requests {
		p.expireBy(t, w)
	}
	return r, nil
}

// callOf are the calls by which a single question of a kind is asked; that of an input for kinds that
// are asked only among several.
var callOf = map[abi.PermissionKind]string{abi.PermissionInput: abi.CallInputRequest, abi.PermissionAuthorization: abi.CallAuthRequest,
	abi.PermissionApproval: abi.CallApprovalRequest, abi.PermissionSampling: abi.CallInputRequest, abi.PermissionRoots: abi.CallInputRequest}
