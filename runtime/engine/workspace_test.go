package engine_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// A Quota that a Workspace names bounds its Tasks; only who may change Quotas names
// one, and one that is there.
func TestWorkspaceQuota(t *testing.T) {
	n := newNode(t, enginetest.Guests{"other": enginetest.Echo})
	ctx, session := t.Context(), n.Session(t)
	q := n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaPersona, OwnerID: "persona_other", Limits: limits("tasks", 1)})
	submit := func() error {
		_, err := n.SubmitTask(ctx, n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_echo", Input: enginetest.Text("hi")})
		return err
	}
	name := func(c *desk.Caller, id string) error {
		_, err := n.UpdateWorkspace(ctx, c, nil, tenancy.DefaultWorkspace, abi.UpdateWorkspaceRequest{QuotaID: jsontext.Value(id)})
		return err
	}
	enginetest.WantCode(t, name(n.Root, `"quota_none"`), abi.CodeInvalidRequest)
	enginetest.WantCode(t, name(n.Root, `7`), abi.CodeInvalidRequest)
	limited := *n.Root
	limited.Scopes = []string{"workspaces:write"}
	enginetest.WantCode(t, name(&limited, `null`), abi.CodePermissionDenied)
	for range 2 { // nothing bounds them yet
		if err := submit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := name(n.Root, `"`+q.ID+`"`); err != nil {
		t.Fatal(err)
	}
	if err := submit(); err != nil {
		t.Fatal(err)
	}
	enginetest.WantCode(t, submit(), abi.CodePolicyViolation)
	if err := name(n.Root, `null`); err != nil {
		t.Fatal(err)
	}
	if err := submit(); err != nil {
		t.Error(err)
	}
}
