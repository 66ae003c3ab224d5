package harn_test

import (
	"net/http"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// A node without a folder for them says so, and says nothing of files to those who
// may not see the Workspace.
func TestFilesNeedAFolder(t *testing.T) {
	n := newNode(t)
	at := "/v1/workspaces/" + tenancy.DefaultWorkspace + "/files?path=a"
	stranger := n.newKey(t, "another tenant", "*")
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		var body any
		if method == http.MethodPut {
			body = object{"content": "x"}
		}
		n.do(t, method, at, body).wantError(501, abi.CodeNotImplemented)
		n.do(t, method, at, body, key(stranger)).wantError(404, abi.CodeResourceNotFound)
	}
}
