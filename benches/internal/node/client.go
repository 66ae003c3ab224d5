package node

import (
	"fmt"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/load"
)

// Headers are what every request to a node carries that is made with [APIKey].
func Headers() []load.Header { return headers(APIKey) }

func headers(key string) []load.Header {
	return []load.Header{
		{Name: "Authorization", Value: "Bearer " + key},
		{Name: abi.VersionHeader, Value: abi.ProtocolVersion},
	}
}

// Do sends one request and returns status and body of the answer.
func (n *Node) Do(method, path string, body []byte) (int, []byte, error) {
	return n.do(method, path, body, "")
}

// Upload sends a body of another media type than JSON.
func (n *Node) Upload(path, media string, body []byte) (int, []byte, error) {
	return n.send(fasthttp.MethodPost, path, media, body, "")
}

func (n *Node) do(method, path string, body []byte, prefer string) (int, []byte, error) {
	return n.send(method, path, "application/json", body, prefer)
}

func (n *Node) send(method, path, media string, body []byte, prefer string) (int, []byte, error) {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.Header.SetMethod(method)
	req.SetRequestURI("http://" + n.Addr + path)
	for _, h := range headers(n.key) {
		req.Header.Set(h.Name, h.Value)
	}
	if prefer != "" {
		req.Header.Set("Prefer", prefer)
	}
	if body != nil {
		req.Header.SetContentType(media)
		req.SetBodyRaw(body)
	}
	if err := n.client.Do(req, resp); err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return resp.StatusCode(), append([]byte(nil), resp.Body()...), nil
}

// Call sends a request, requires success, and decodes the answer into out.
func (n *Node) Call(method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encoding a request: %w", err)
		}
	}
	status, answer, err := n.Do(method, path, body)
	if err != nil {
		return err
	}
	if status/100 != 2 {
		return fmt.Errorf("%s %s was answered with %d: %.300s", method, path, status, answer)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("decoding the answer to %s %s: %w", method, path, err)
	}
	return nil
}

// list is the envelope of a page.
type list[T any] struct {
	Data []T `json:"data"`
	Page struct {
		HasMore    bool   `json:"has_more"`
		NextCursor string `json:"next_cursor"`
	} `json:"page"`
}

// resource is what the benches read of any resource.
type resource struct {
	ID string `json:"id"`
}

// Workspace returns the id of a Workspace of the node.
func (n *Node) Workspace() (string, error) {
	var page list[resource]
	if err := n.Call(fasthttp.MethodGet, "/v1/workspaces?limit=1", nil, &page); err != nil {
		return "", err
	}
	if len(page.Data) == 0 {
		return "", fmt.Errorf("the node has no workspace")
	}
	return page.Data[0].ID, nil
}

// CreateSession makes a Session with the given Persona and returns its id.
func (n *Node) CreateSession(workspace, persona string) (string, error) {
	var session resource
	err := n.Call(fasthttp.MethodPost, "/v1/sessions", abi.CreateSessionRequest{WorkspaceID: workspace, PersonaID: persona}, &session)
	return session.ID, err
}

// CreateSessions makes several Sessions with the given Persona.
func (n *Node) CreateSessions(count int, persona string) ([]string, error) {
	workspace, err := n.Workspace()
	if err != nil {
		return nil, err
	}
	ids := make([]string, count)
	for i := range ids {
		if ids[i], err = n.CreateSession(workspace, persona); err != nil {
			return nil, fmt.Errorf("creating session %d of %d: %w", i+1, count, err)
		}
	}
	return ids, nil
}

// TaskIDs calls f with the id of every Task in the log.
func (n *Node) TaskIDs(f func(id string)) error {
	path := "/v1/tasks?limit=200"
	for cursor := ""; ; {
		var page list[resource]
		if err := n.Call(fasthttp.MethodGet, path+cursor, nil, &page); err != nil {
			return err
		}
		for _, task := range page.Data {
			f(task.ID)
		}
		if !page.Page.HasMore {
			return nil
		}
		cursor = "&cursor=" + url.QueryEscape(page.Page.NextCursor)
	}
}

// Events returns how many events the log holds: the position of the newest one,
// which is that of a Session that this call makes.
func (n *Node) Events() (int64, error) {
	workspace, err := n.Workspace()
	if err != nil {
		return 0, err
	}
	session, err := n.CreateSession(workspace, "")
	if err != nil {
		return 0, err
	}
	var page list[struct {
		ID int64 `json:"id,string"`
	}]
	if err := n.Call(fasthttp.MethodGet, "/v1/sessions/"+session+"/events?limit=1", nil, &page); err != nil {
		return 0, err
	}
	if len(page.Data) == 0 {
		return 0, fmt.Errorf("session %s has no event", session)
	}
	return page.Data[0].ID, nil
}

// CountEvents returns how many events lie under a resource's path, up to 200.
func (n *Node) CountEvents(path string) (int, error) {
	var page list[resource]
	err := n.Call(fasthttp.MethodGet, path+"/events?limit=200", nil, &page)
	return len(page.Data), err
}

// Submit submits a Task to a Session and returns its id. prefer is the value of
// the Prefer header, "" for none.
func (n *Node) Submit(session string, body []byte, prefer string) (string, error) {
	status, answer, err := n.do(fasthttp.MethodPost, "/v1/sessions/"+session+"/tasks", body, prefer)
	if err != nil {
		return "", err
	}
	if status/100 != 2 {
		return "", fmt.Errorf("a submit was answered with %d: %.300s", status, answer)
	}
	var task resource
	if err := json.Unmarshal(answer, &task); err != nil {
		return "", fmt.Errorf("decoding the answer to a submit: %w", err)
	}
	return task.ID, nil
}
