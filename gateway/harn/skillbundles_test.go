package harn_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// skillZip returns the zip of a skill; version is "" for one that states none.
func skillZip(name, version string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	out, err := w.Create(name + "/SKILL.md")
	if err == nil {
		_, err = out.Write([]byte("---\nname: " + name + "\ndescription: Does it.\nversion: " + version + "\n---\nDo it.\n"))
	}
	if err != nil || w.Close() != nil {
		panic("a zip in memory could not be written")
	}
	return b.Bytes()
}

// A skill is installed, upgraded, rolled back and downloaded as a zip; what is no skill is refused
// with where it is wrong.
func TestSkillBundles(t *testing.T) {
	n := newNode(t)
	const all = "/wharf/v1/skill-bundles"
	asZip := header("Content-Type", "application/zip")
	made := n.do(t, "POST", all+"?workspace_id=ws_default&display_title=Forms&category=plugin&changelog=first", skillZip("pdf", "1.0.0"), asZip).want(201)
	one := all + "/" + made.id()
	if made.get("name") != "pdf" || made.get("display_title") != "Forms" || made.get("category") != "plugin" || made.get("changelog") != "first" || made.get("versions") != nil {
		t.Errorf("%s", made.body)
	}
	if up := n.do(t, "POST", one+"/versions?changelog=second", skillZip("pdf", ""), asZip).want(200); up.get("version") != "1.1.0" || up.get("previous_version") != "1.0.0" || up.get("changelog") != "second" {
		t.Errorf("%s", up.body)
	}
	if back := n.do(t, "POST", one+"/rollback", object{"version": "1.0.0"}).want(200); back.get("version") != "1.0.0" || back.get("previous_version") != "1.1.0" {
		t.Errorf("%s", back.body)
	}
	if v := n.do(t, "GET", one+"/versions", nil).want(200); v.get("current_version") != "1.0.0" || len(v.get("versions").([]any)) != 2 {
		t.Errorf("%s", v.body)
	}
	content := n.do(t, "GET", one+"/content?version=1.1.0", nil).want(200)
	if content.header.Get("Content-Type") != "application/zip" || content.header.Get("Content-Disposition") != "attachment; filename=pdf.zip" || !bytes.HasPrefix(content.body, []byte("PK")) {
		t.Errorf("%v %.20q", content.header, content.body)
	}
	if listed := n.do(t, "GET", all+"?category=plugin&workspace_id=ws_default", nil).ids(); len(listed) != 1 {
		t.Errorf("there are %v", listed)
	}
	if listed := n.do(t, "GET", all+"?category=user", nil).ids(); len(listed) != 0 {
		t.Errorf("there are %v", listed)
	}
	session := n.do(t, "POST", "/v1/sessions", object{"workspace_id": "ws_default", "skills": []string{"pdf"}}).want(201)
	if got := session.get("skills").([]any); len(got) != 1 || got[0] != "pdf" {
		t.Errorf("%s", session.body)
	}
	for name, wrong := range map[string]object{"unknown": {"workspace_id": "ws_default", "skills": []string{"pfd"}}, "twice": {"workspace_id": "ws_default", "skills": []string{"pdf", "pdf"}}} {
		if err := n.do(t, "POST", "/v1/sessions", wrong).wantError(400, abi.CodeInvalidRequest); err.Param != "skills" {
			t.Errorf("%s: %+v", name, err)
		}
	}
	n.do(t, "DELETE", one, nil).want(204)
	n.do(t, "GET", one, nil).wantError(404, abi.CodeResourceNotFound)
	for name, body := range map[string][]byte{"no zip": []byte("x"), "no name": skillZip("", ""), "wrong version": skillZip("pdf", "one")} {
		err := n.do(t, "POST", all+"?workspace_id=ws_default", body, asZip).wantError(400, abi.CodeInvalidRequest)
		if err.Param != "files" || !strings.Contains(string(err.Details), `"code"`) {
			t.Errorf("%s: %+v", name, err)
		}
	}
	if err := n.do(t, "POST", all, object{"workspace_id": "ws_default"}).wantError(400, abi.CodeInvalidRequest); err.Param != "content" {
		t.Errorf("%+v", err)
	}
	n.do(t, "POST", all+"?workspace_id=ws_none", []byte("x"), asZip).wantError(404, abi.CodeResourceNotFound)
}
