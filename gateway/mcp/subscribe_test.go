package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// told is what a client was told of, in order.
type told chan string

// options has everything told.
func (c told) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { c <- "tools" },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { c <- "prompts" },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { c <- "resources" },
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { c <- r.Params.URI },
	}
}

// until waits for something to be told, and returns all that was told before.
func (c told) until(t *testing.T, what string) (before []string) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case got := <-c:
			if got == what {
				return before
			}
			before = append(before, got)
		case <-late:
			t.Fatalf("nobody was told of %s, but of %q", what, before)
		}
	}
}

// A client is told of a resource that it subscribes to, as it writes it, each time it changes, and of
// no other.
func TestClientIsToldOfChanges(t *testing.T) {
	both(t, func(t *testing.T, revision string) {
		n := newStored(t)
		heard := make(told, 1000)
		s := n.connect(t, enginetest.RootKey, revision, heard.options())
		file := "wharf://workspaces/" + n.workspace + "/files/docs%2Fa%20b.md"
		skill := "skill://" + n.workspace + "/pdf-forms/references/FORMS.md"
		for _, uri := range []string{file, skill} {
			if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
		}
		if revision == stateless {
			heard.ready(t, n, s, file)
		}
		n.file(t, n.workspace, "docs/other", "x")
		n.file(t, n.workspace, "docs/a b.md", "# Changed\n")
		if before := heard.until(t, file); slices.Contains(before, skill) {
			t.Errorf("the client was told of %q", before)
		}
		if c, err := read(t, s, file); err != nil || c.Text != "# Changed\n" {
			t.Errorf("the file is %+v (%v)", c, err)
		}
		bundles, err := n.SkillBundles(t.Context(), n.Root, api.SkillFilter{WorkspaceID: n.workspace}, api.Page{Limit: 1})
		if err != nil || len(bundles.Docs) != 1 {
			t.Fatal(err)
		}
		if err := n.UninstallSkillBundle(t.Context(), n.Root, nil, bundles.Docs[0].ID); err != nil {
			t.Fatal(err)
		}
		heard.until(t, skill)
		if err := s.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: file}); err != nil {
			t.Fatal(err)
		}
		if revision == withSessions {
			n.file(t, n.workspace, "docs/a b.md", "# Again\n")
			n.skill(t, "echo", abi.CreateSkillRequest{Name: "later"})
			if before := heard.until(t, "tools"); slices.Contains(before, file) {
				t.Errorf("the client was told of what it unsubscribed from: %q", before)
			}
		}
	})
}

// ready returns when the client is told of changes of a file: the SDK's client does not say when the node
// has heard it.
func (c told) ready(t *testing.T, n *stored, s *sdk.ClientSession, file string) {
	t.Helper()
	for i := 0; ; i++ {
		n.file(t, n.workspace, "docs/a b.md", fmt.Sprint(i))
		select {
		case got := <-c:
			if got == file {
				return
			}
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("nobody is told of anything")
		}
	}
}

// A session is told when lists change, as far as the caller may read them.
func TestClientIsToldOfLists(t *testing.T) {
	n := newStored(t)
	everything, files := make(told, 1000), make(told, 1000)
	n.connect(t, enginetest.RootKey, withSessions, everything.options())
	narrow := n.connect(t, n.key(t, []string{"workspaces:read"}), withSessions, files.options())
	if _, err := narrow.ListResources(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	n.skill(t, "echo", abi.CreateSkillRequest{Name: "another"})
	for _, list := range []string{"tools", "prompts", "resources"} {
		everything.until(t, list)
	}
	n.node.artifact(t, n.workspace, "text/plain", []byte("x"), abi.VisibilityPublic)
	everything.until(t, "resources")
	n.file(t, n.workspace, "new", "x")
	everything.until(t, "resources")
	if before := files.until(t, "resources"); len(before) > 0 {
		t.Errorf("who may read files alone was told of %q", before)
	}
	if len(files) > 0 {
		t.Errorf("who may read files alone was told twice: of %s", <-files)
	}
}

func TestTooManySubscriptions(t *testing.T) {
	n := newStored(t)
	s := n.connect(t, enginetest.RootKey, withSessions, nil)
	for i := range 257 {
		path := fmt.Sprintf("many/%d", i)
		n.file(t, n.workspace, path, "x")
		err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "wharf://workspaces/" + n.workspace + "/files/" + path})
		if wire, refused := errors.AsType[*jsonrpc.Error](err); (i == 256) != refused {
			t.Fatalf("subscription %d: %v", i, wire)
		}
	}
}
