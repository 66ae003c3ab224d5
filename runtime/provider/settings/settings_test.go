package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

func TestAPluginReadsItsOwnSettings(t *testing.T) {
	s := Settings{"p": {"color": jsontext.Value(`"blue"`), "size": jsontext.Value(`{"b":1,"a":[2]}`)}, "q": {"color": jsontext.Value(`"red"`)}}
	for _, test := range []struct{ plugin, request, want string }{
		{"p", `{"name":"color"}`, `{"value":"blue"}`},
		{"q", `{"name":"color"}`, `{"value":"red"}`},
		{"p", `{"name":"size"}`, `{"value":{"b":1,"a":[2]}}`},
		{"q", `{"name":"size"}`, `{"value":null}`},
		{"r", `{"name":"color"}`, `{"value":null}`},
	} {
		plan, err := s.Prepare(t.Context(), &provider.Call{Plugin: test.plugin, Request: []byte(test.request)})
		if err != nil || plan.Effect != abi.EffectRead {
			t.Fatalf("%+v, %v", plan, err)
		}
		if got, err := plan.Do(t.Context(), nil); err != nil || string(got) != test.want {
			t.Errorf("%s of %s is %s, %v, want %s", test.request, test.plugin, got, err, test.want)
		}
	}
	for _, request := range []string{``, `{}`, `{"name":1}`} {
		_, err := s.Prepare(t.Context(), &provider.Call{Plugin: "p", Request: []byte(request)})
		if r, ok := errors.AsType[*provider.Refusal](err); !ok || r.Status != abi.CallInvalid {
			t.Errorf("%q: %v", request, err)
		}
	}
}

func TestDeepSettings(t *testing.T) {
	for levels, want := range map[int]bool{abi.MaxToldDepth: true, abi.MaxToldDepth + 1: false, 9_999: false} {
		s := Settings{"p": {"deep": jsontext.Value(strings.Repeat("[", levels) + strings.Repeat("]", levels))}}
		_, err := s.Prepare(t.Context(), &provider.Call{Plugin: "p", Request: []byte(`{"name":"deep"}`)})
		if r, refused := errors.AsType[*provider.Refusal](err); refused == want || refused && r.Code != provider.CodeTooDeep {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}
