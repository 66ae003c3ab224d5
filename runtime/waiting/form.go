package waiting

import (
	"context"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// fits holds the Message that answers a request against what it asks for. A schema that makes
// no sense, as that of a single question may be, holds nothing back.
func (k *Keeper) fits(ctx context.Context, tenant storage.Tenant, p *abi.PermissionRequest, m *abi.Message) error {
	if p.Key != "" && len(m.AppendJSON(nil)) > abi.MaxQuestionAnswer {
		return abi.Errorf(abi.CodePayloadTooLarge, "the answer to one of several questions has at most %d bytes: it can refer to an artifact", abi.MaxQuestionAnswer)
	}
	if p.Schema.Kind() != '{' {
		return nil
	}
	schema, err := skill.Compile(p.Schema)
	if err != nil {
		return nil
	}
	var wrong error
	for _, value := range readings(m) {
		err := schema.Check(turns.For(ctx, uint64(tenant)), k.parts.Turns, value)
		if err == nil {
			return nil
		}
		if !skill.Wrong(err) {
			return k.parts.Ledger.Failed("holding the answer against its schema", err)
		}
		wrong = err
	}
	if wrong == nil {
		return abi.InvalidParam("message.parts", "the answer is held against a schema: it needs a json part, or a text")
	}
	return abi.InvalidParam("message.parts", "the answer does not fit the schema that the request has: %v", wrong)
}

// readings are the values that a Message may stand for as the answer to a form: that of its
// first json part, or else its text, as it is and as the JSON that it may be.
func readings(m *abi.Message) (values []jsontext.Value) {
	var text strings.Builder
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Type == abi.PartJSON:
			return []jsontext.Value{p.Value}
		case p.Type == abi.PartText && p.Text != nil:
			text.WriteString(*p.Text)
		}
	}
	if text.Len() == 0 {
		return nil
	}
	if quoted, err := json.Marshal(text.String()); err == nil {
		values = append(values, quoted)
	}
	if said := jsontext.Value(text.String()); said.IsValid() {
		values = append(values, said)
	}
	return values
}
