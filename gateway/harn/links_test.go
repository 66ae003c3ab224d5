package harn_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// Clients get paths, wherever a Session or an Artifact is shown, in the places that they had in the
// first version of the log, too.
func TestWhatIsHereIsShownByItsPath(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	session := n.session(t)
	transcript := `"state":"ACTIVE","transcript":"/v1/sessions/` + session + `/messages","root_session_id"`
	socket, _ := n.connect(t, connectPath(session))
	if got := socket.do("session.get", nil).Resource["transcript"]; got != "/v1/sessions/"+session+"/messages" {
		t.Errorf("over a socket: %v", got)
	}
	made := n.do(t, "POST", "/v1/artifacts", object{"kind": "file", "mime_type": "text/plain", "visibility": "internal", "content": "aGk=", "session_id": session}).want(201)
	uri := `"mime_type":"text/plain","uri":"/v1/artifacts/` + made.id() + `/content","visibility"`
	task := n.submit(t, session, "persona_make", header("Prefer", "wait=60")).want(200)
	outcome := n.do(t, "GET", "/v1/outcomes/"+task.get("outcome_id").(string), nil).want(200)
	its := outcome.get("artifacts").([]any)[0].(object)
	ofTask := `"uri":"/v1/artifacts/` + its["id"].(string) + `/content"`
	for path, want := range map[string]string{
		"/v1/sessions/" + session: transcript, "/v1/sessions?workspace_id=" + tenancy.DefaultWorkspace: transcript, "/v1/sessions/" + session + "/events?limit=1": transcript,
		"/v1/artifacts/" + made.id(): uri, "/v1/artifacts": uri, "/v1/sessions/" + session + "/events?limit=50": uri,
		"/v1/tasks/" + task.id() + "/events?limit=50": ofTask, "/v1/outcomes/" + outcome.id(): ofTask,
	} {
		if got := n.do(t, "GET", path, nil).want(200); !strings.Contains(string(got.body), want) || strings.Contains(string(got.body), abi.TranscriptName) {
			t.Errorf("%s: %s\nwant %s", path, got.body, want)
		}
	}
	if !strings.Contains(string(made.body), uri) {
		t.Errorf("%s", made.body)
	}
}
