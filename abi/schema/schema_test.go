package schema_test

import (
	"reflect"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/schema"
)

// What clients read of a member is a sentence without Go in it, and without the name that
// stands above it.
func TestComment(t *testing.T) {
	for _, test := range []struct {
		of          reflect.Type
		field, want string
	}{
		{reflect.TypeFor[abi.Task](), "DeadlineAt", "When the Task fails unless it has ended."},
		{reflect.TypeFor[abi.Polling](), "TimeZone", "Of the IANA database; UTC if it is empty."},
		{reflect.TypeFor[abi.Outcome](), "Messages", "What `message_ids` name, put in when an Outcome is read."},
		{reflect.TypeFor[abi.VaultKeyRotation](), "Files", "How many were encrypted to it."},
		{reflect.TypeFor[abi.CreateSessionRequest](), "MemoryIDs", "Memories of others that the Session's Tasks find as if they were the Session's own."},
		{reflect.TypeFor[abi.CreateMemoryRequest](), "Confidence", "0 to 1."},
		{reflect.TypeFor[abi.Task](), "SessionID", ""},
		{reflect.TypeFor[struct{ ID string }](), "ID", ""},
	} {
		f, ok := test.of.FieldByName(test.field)
		if !ok {
			t.Fatalf("%s has no field %s", test.of, test.field)
		}
		if got := schema.Comment(test.of, f); got != test.want {
			t.Errorf("%s.%s: %q, want %q", test.of.Name(), test.field, got, test.want)
		}
	}
}

// What a field's tags say is in its schema, and the members of an embedded struct stand
// beside its own.
func TestTags(t *testing.T) {
	type inner struct {
		Kind string `json:"kind" enum:"one,two"`
	}
	type whole struct {
		Inner inner    `json:",embed"`
		At    string   `json:"at,omitzero" format:"uri"`
		Count int      `json:"count" minimum:"1"`
		All   []string `json:"all" minItems:"2"`
	}
	b := &schema.Builder{Values: schema.Values, Named: func(reflect.Type) *schema.Schema { return nil },
		Comment: func(reflect.Type, reflect.StructField) string { return "" }}
	o := b.Object(reflect.TypeFor[whole](), "")
	kind, at, count, all := o.Properties["kind"], o.Properties["at"], o.Properties["count"], o.Properties["all"]
	if kind == nil || !reflect.DeepEqual(kind.Enum, []string{"one", "two"}) || at.Format != "uri" || count.Minimum != 1 || all.MinItems != 2 {
		t.Errorf("kind %+v, at %+v, count %+v, all %+v", kind, at, count, all)
	}
	if !reflect.DeepEqual(o.Required, []string{"kind", "count", "all"}) {
		t.Errorf("required: %q", o.Required)
	}
}
