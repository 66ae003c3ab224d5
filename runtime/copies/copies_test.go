package copies_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/copies"
	"github.com/wharf-dev/wharf/runtime/desk"
)

func TestBackup(t *testing.T) {
	node := &desk.Caller{Scopes: []string{abi.ScopeNode}}
	for name, test := range map[string]struct {
		c            *desk.Caller
		write, check error
		unable       bool
		code         abi.ErrorCode // "" when the copy is made
	}{
		"made":                         {c: node},
		"without the scope":            {c: &desk.Caller{Scopes: []string{abi.ScopeAdmin}}, code: abi.CodePermissionDenied},
		"bound to a workspace":         {c: &desk.Caller{Scopes: []string{abi.ScopeAll}, Workspaces: []string{"ws_a"}}, code: abi.CodePermissionDenied},
		"storage that makes no copies": {c: node, unable: true, code: abi.CodeNotImplemented},
		"a folder that is there":       {c: node, write: errors.New("it exists"), code: abi.CodeInvalidRequest},
		"a copy that lacks something":  {c: node, check: errors.New("a file is missing"), code: abi.CodeInternalError},
	} {
		resting, wrote := false, false
		p := copies.Parts{
			Write: func(string) error {
				if wrote = true; !resting {
					t.Errorf("%s: files may change while they are copied", name)
				}
				return test.write
			},
			Check: func(context.Context, string) error { return test.check },
			WhileFilesRest: func(do func() error) error {
				resting = true
				defer func() { resting = false }()
				return do()
			},
		}
		if test.unable {
			p.Write = nil
		}
		err := copies.NewKeeper(p).Backup(t.Context(), test.c, "/copy")
		if test.code == "" {
			if err != nil || !wrote {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		refused, ok := errors.AsType[*abi.Error](err)
		if !ok || refused.Code != test.code {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
		if test.write != nil && !strings.Contains(err.Error(), test.write.Error()) {
			t.Errorf("%s: %v does not say why", name, err)
		}
	}
}
