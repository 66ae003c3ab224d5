package tool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// hanging is a server that never says what it has.
type hanging struct{ fake }

func (*hanging) List(ctx context.Context) ([]abi.Tool, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// unasked is a server that no plugin may use.
type unasked struct {
	fake
	t *testing.T
}

func (u *unasked) List(context.Context) ([]abi.Tool, error) {
	u.t.Error("a server that no plugin may use was asked")
	return nil, nil
}

// A list of all tools takes neither longer nor less because of one server.
func TestOfferedTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deep := jsontext.Value(strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400))
		tools := New(Config{
			Servers: map[string]Server{
				"b": &fake{tools: []abi.Tool{{Name: "z"}, {Name: "a", ReadOnly: true}, {Name: "private"}, {Name: "deep", InputSchema: deep}}},
				"a": &fake{tools: []abi.Tool{{Name: "one"}}}, "hangs": &hanging{}, "fails": &fake{fails: errors.New("down")},
				"other": &unasked{t: t}, ServerClient: NewClients(Limits{}, Hints{}),
			},
			Grants: map[string][]string{"q": {"a:*", "hangs:*", "fails:x", "client:*"}, "p": {"b:a", "b:z", "b:deep", "a:one"}, "none": {}},
		})
		offered, silent := tools.Offered(t.Context())
		var got []string
		for _, tool := range offered {
			got = append(got, tool.Server+":"+tool.Name)
		}
		if want := []string{"a:one", "b:a", "b:z"}; !slices.Equal(got, want) {
			t.Errorf("offered %v, want %v", got, want)
		}
		if want := []string{"fails", "hangs"}; !slices.Equal(silent, want) {
			t.Errorf("silent %v, want %v", silent, want)
		}
		if got := tools.GrantedTo("a", "one"); !slices.Equal(got, []string{"p", "q"}) {
			t.Errorf("granted to %v", got)
		}
		if of, err := tools.OfferedBy(t.Context(), "nowhere"); err != nil || of != nil {
			t.Errorf("a server that there is not offers %v, %v", of, err)
		}
	})
}
