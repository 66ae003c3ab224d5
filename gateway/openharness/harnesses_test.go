package openharness_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/enginetest"
)

const register = `{"id":"mine","name":"Mine","vendor":"me","description":"What I run.","execution_type":"sdk","config":{"binary_path":"echo"}}`

func TestHarnesses(t *testing.T) {
	n := newNode(t, nil)
	if got := n.do(t, "GET", "", nil).want(200); got.text("data.0.id") != "wharf" || got.get("total") != 1.0 || got.text("items.0.id") != "wharf" {
		t.Errorf("%s", got.body)
	}
	made := n.do(t, "POST", "", register).want(201)
	if made.text("harness.id") != "mine" || made.text("harness.status") != "active" || made.get("harness.capabilities.files.supported") != true {
		t.Errorf("%s", made.body)
	}
	n.do(t, "POST", "", register).fails(409, "CONFLICT")
	n.do(t, "POST", "", strings.Replace(register, "mine", "wharf", 1)).fails(409, "CONFLICT")
	if got := n.do(t, "PATCH", "/mine", `{"name":"Ours","status":"beta"}`).want(200); got.text("harness.name") != "Ours" || got.text("harness.status") != "beta" {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", "?status=beta", nil).want(200); got.get("total") != 1.0 || got.text("data.0.name") != "Ours" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", "?status=old", nil).fails(400, "VALIDATION_ERROR")
	if got := n.do(t, "GET", "/mine/capabilities", nil).want(200); got.text("harness_id") != "mine" || got.text("harness_name") != "Ours" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "DELETE", "/mine", nil).want(204)
	n.do(t, "GET", "/mine", nil).fails(404, "NOT_FOUND")
	n.do(t, "POST", "", register).want(201) // its name is free
	n.do(t, "DELETE", "/wharf", nil).fails(403, "FORBIDDEN")
	n.do(t, "PATCH", "/wharf", `{"name":"x"}`).fails(403, "FORBIDDEN")
}

// What is stored is there after a restart, and what was deleted is not.
func TestHarnessesStay(t *testing.T) {
	n := newNode(t, nil)
	n.do(t, "POST", "", register).want(201)
	n.do(t, "POST", "", strings.Replace(register, "mine", "gone", 1)).want(201)
	n.do(t, "DELETE", "/gone", nil).want(204)
	again := enginetest.Boot(t, n.Disk.Crash(1, 0), enginetest.Guests{"echo": enginetest.Echo, "agent": enginetest.Echo})
	defer again.Stop(t)
	var names []string
	for _, h := range again.Harnesses(context.Background(), again.Root) {
		names = append(names, h.Name)
	}
	if fmt.Sprint(names) != "[wharf mine]" {
		t.Errorf("%v", names)
	}
}

// A harness in which something runs, or may go on, stays.
func TestBusyHarness(t *testing.T) {
	g, _, leave := hold()
	n := newNode(t, enginetest.Guests{"slow": g})
	n.do(t, "POST", "", strings.Replace(register, `"echo"`, `"slow"`, 1)).want(201)
	h, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	session := n.sessionIn(t, h.WorkspaceID)
	n.do(t, "DELETE", "/mine", nil).fails(409, "CONFLICT")
	task := n.Submit(t, session, h.PersonaID)
	if _, err := n.CloseSession(t.Context(), n.Root, nil, session); err != nil {
		t.Fatal(err)
	}
	n.do(t, "DELETE", "/mine", nil).fails(409, "CONFLICT")
	close(leave)
	n.Wait(t, task)
	n.do(t, "DELETE", "/mine", nil).want(204)
}

func TestWhoSeesHarnesses(t *testing.T) {
	n := newNode(t, nil)
	n.do(t, "POST", "", register).want(201)
	h, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	reads, writes := n.key(t, []string{"harnesses:read"}), n.key(t, []string{"harnesses:write"})
	bound := n.key(t, []string{"*"}, h.WorkspaceID)
	stranger := n.stranger(t)
	for _, c := range []struct {
		what, method, path, body, key string
		status                        int
	}{
		{"no key", "GET", "/mine", "", "", 401},
		{"a wrong key", "GET", "/mine", "", "nonsense", 401},
		{"reads", "GET", "/mine", "", reads, 200},
		{"reads, does not write", "PATCH", "/mine", `{}`, reads, 403},
		{"reads, does not register", "POST", "", register, reads, 403},
		{"writes, does not read", "GET", "/mine", "", writes, 403},
		{"writes", "PATCH", "/mine", `{}`, writes, 200},
		{"bound to it", "GET", "/mine", "", bound, 200},
		{"bound to it alone", "GET", "/wharf", "", bound, 404},
		{"bound, makes none", "POST", "", strings.Replace(register, "mine", "other", 1), bound, 403},
		{"bound, deletes none", "DELETE", "/mine", "", bound, 403},
		{"another tenant", "GET", "/mine", "", stranger, 404},
		{"another tenant has its own", "GET", "/wharf", "", stranger, 200},
		{"another tenant", "DELETE", "/mine", "", stranger, 404},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		if got := n.do(t, c.method, c.path, body, by(c.key)); got.status != c.status {
			t.Errorf("%s: %s %s answered %d: %s", c.what, c.method, c.path, got.status, got.body)
		}
	}
	if got := n.do(t, "GET", "", nil, by(bound)).want(200); got.get("total") != 1.0 || got.text("data.0.id") != "mine" {
		t.Errorf("bound: %s", got.body)
	}
}

// Each limit of the document holds, and one beyond it is refused with the member that is wrong.
func TestLimitsOfHarnesses(t *testing.T) {
	n := newNode(t, nil)
	for member, c := range map[string]struct {
		value string
		ok    bool
	}{
		"name":                {strings.Repeat("é", 100), true},
		"name ":               {strings.Repeat("é", 101), false},
		"name  ":              {"", false},
		"vendor":              {strings.Repeat("v", 100), true},
		"vendor ":             {strings.Repeat("v", 101), false},
		"description":         {strings.Repeat("d", 1000), true},
		"description ":        {strings.Repeat("d", 1001), false},
		"id":                  {strings.Repeat("i", 100), true},
		"id ":                 {strings.Repeat("i", 101), false},
		"id  ":                {"My-Own", false},
		"id   ":               {"a--b", false},
		"execution_type":      {"cloud", false},
		"status":              {"gone", false},
		"config.skills_path":  {"../up", false},
		"config.binary_path ": {"", false},
	} {
		body := map[string]any{"id": "h" + fmt.Sprint(len(member)), "name": "n", "vendor": "v", "description": "d", "execution_type": "sdk"}
		config := map[string]any{"binary_path": "echo"}
		body["config"] = config
		name := strings.TrimSpace(member)
		if in, ok := strings.CutPrefix(name, "config."); ok {
			config[in] = c.value
		} else {
			body[name] = c.value
		}
		if name != "id" {
			body["id"] = strings.Repeat("x", len(member)) + name[:1] + fmt.Sprint(len(c.value))
		}
		got := n.do(t, "POST", "", body)
		switch {
		case c.ok:
			got.want(201)
		default:
			got.fails(400, "VALIDATION_ERROR")
			if got.text("error.details.param") != name {
				t.Errorf("%q: %s", member, got.body)
			}
		}
	}
	if message := n.do(t, "POST", "", strings.Replace(register, `"echo"`, `"none"`, 1)).fails(422, "VALIDATION_ERROR"); !strings.Contains(message, "agent, echo") {
		t.Errorf("it does not say which plugins there are: %s", message)
	}
}

// Clients that leave the version out, ask twice, or ask for another version.
func TestHabits(t *testing.T) {
	n := newNode(t, nil)
	bare := func(o ...option) option {
		return header("Idempotency-Key", "k")
	}
	n.do(t, "POST", "", register, bare()).want(201)
	if again := n.do(t, "POST", "", register, bare()).want(201); again.header.Get("Idempotent-Replayed") != "true" {
		t.Error("a write that was sent again does not say so")
	}
	if got := n.at(t, "GET", "/harnesses/mine", nil); got.status != 200 {
		t.Errorf("%d: %s", got.status, got.body)
	}
	if again := n.at(t, "POST", "/harnesses", register, bare()); again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the bare path is another write: %s", again.body)
	}
	n.do(t, "GET", "/mine", nil, header("Accept", "application/json; version=2")).fails(400, "UNSUPPORTED_VERSION")
	n.do(t, "GET", "/mine", nil, header("Accept", "text/html, application/json;version=1;q=0.9")).want(200)
	n.do(t, "POST", "", `{"name":"By Name!","vendor":"v","description":"d","execution_type":"sdk","config":{"binary_path":"echo"},"version":"2.0.0","capabilities":["all"]}`).want(201)
	if got := n.do(t, "GET", "/by-name", nil).want(200); got.text("harness.version") != "2.0.0" {
		t.Errorf("%s", got.body)
	}
}

// Every error below the protocol's paths is in its words.
func TestErrorsAreThoseOfTheProtocol(t *testing.T) {
	n := newNode(t, nil)
	for path, c := range map[string]struct {
		method string
		status int
		code   string
	}{
		"/v1/harnesses/wharf/nowhere":  {"GET", 404, "NOT_FOUND"},
		"/harnesses/wharf/nowhere":     {"GET", 404, "NOT_FOUND"},
		"/v1/harnesses/wharf":          {"PUT", 405, "METHOD_NOT_ALLOWED"},
		"/v1/harnesses/none":           {"GET", 404, "NOT_FOUND"},
		"/v1/harnesses?limit=101":      {"GET", 400, "VALIDATION_ERROR"},
		"/v1/harnesses?limit=0":        {"GET", 400, "VALIDATION_ERROR"},
		"/v1/harnesses?offset=-1":      {"GET", 400, "VALIDATION_ERROR"},
		"/v1/harnesses?cursor=nonsens": {"GET", 400, "VALIDATION_ERROR"},
	} {
		got := n.at(t, c.method, path, nil)
		if got.fails(c.status, c.code); got.header.Get("X-Request-Id") != got.text("error.details.request_id") {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	got := n.do(t, "POST", "", `{"id":3}`)
	got.fails(400, "VALIDATION_ERROR")
	if got.text("error.operation") != "harnesses.register" || got.text("error.domain") != "harnesses" || got.text("error.details.param") != "id" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "POST", "", "<x/>", header("Content-Type", "text/xml")).fails(415, "UNSUPPORTED_MEDIA_TYPE")
}

// Health is told to everybody, and what of it concerns the harness to those who may see it.
func TestHealth(t *testing.T) {
	n := newNode(t, nil)
	if got := n.do(t, "GET", "/wharf/health", nil, by("")).want(200); got.text("status") != "healthy" || len(got.get("checks").([]any)) != 0 {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", "/wharf/health", nil).want(200); got.get("healthy") != true || got.text("checks.0.status") != "pass" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", "/none/health", nil).fails(404, "NOT_FOUND")
	n.do(t, "GET", "/wharf/health", nil, by("wrong")).fails(401, "UNAUTHORIZED")
	n.do(t, "GET", "/none/health", nil, by("")).want(200) // nothing is told of which there are
}

// Pages by offset and by cursor show the same.
func TestPagesOfHarnesses(t *testing.T) {
	n := newNode(t, nil)
	for i := range 5 {
		n.do(t, "POST", "", strings.Replace(register, "mine", fmt.Sprintf("h%d", i), 1)).want(201)
	}
	for path, want := range map[string]string{"?limit=2": "wharf h0", "?limit=2&offset=2": "h1 h2", "?limit=100&offset=5": "h4", "?offset=6": ""} {
		if got := ids(n.do(t, "GET", path, nil).want(200)); got != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	all, cursor := "", ""
	for range 10 {
		got := n.do(t, "GET", "?limit=2&cursor="+cursor, nil).want(200)
		all += ids(got) + ";"
		if got.get("has_more") != true {
			break
		}
		cursor = got.text("cursor")
	}
	if all != "wharf h0;h1 h2;h3 h4;" {
		t.Errorf("by cursor there are %s", all)
	}
	n.do(t, "GET", "?offset=1&cursor="+cursor, nil).fails(400, "VALIDATION_ERROR")
}

func ids(a answer) string {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	a.into(&list)
	var all []string
	for _, one := range list.Data {
		all = append(all, one.ID)
	}
	return strings.Join(all, " ")
}
