package shapes_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/acptest"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
)

// What a prompt says is kept as a Message, and a client that reads the conversation again gets the same
// content.
func TestContentComesBack(t *testing.T) {
	checker, err := acptest.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ in, part, back string }{
		"text":       {`{"type":"text","text":"hi","annotations":{"audience":["user"]},"_meta":{"a":1}}`, `{"type":"text","text":"hi","visibility":"public"}`, `{"type":"text","text":"hi"}`},
		"empty text": {`{"type":"text","text":""}`, `{"type":"text","text":"","visibility":"public"}`, `{"type":"text","text":""}`},
		"a link":     {`{"type":"resource_link","uri":"file:///a/b.go","name":"b.go","mimeType":null,"size":3}`, `{"type":"file_ref","name":"b.go","uri":"file:///a/b.go","mime_type":"application/octet-stream","visibility":"public"}`, `{"type":"resource_link","mimeType":"application/octet-stream","uri":"file:///a/b.go","name":"b.go"}`},
		"a file": {`{"type":"resource","resource":{"uri":"file:///a/b.go","mimeType":"text/x-go","text":"package b"}}`, `{"type":"json","value":{"resource":{"uri":"file:///a/b.go","mimeType":"text/x-go","text":"package b"}},"visibility":"public"}`,
			`{"type":"resource","resource":{"uri":"file:///a/b.go","mimeType":"text/x-go","text":"package b"}}`},
		"an empty file": {`{"type":"resource","resource":{"uri":"file:///a","text":""}}`, `{"type":"json","value":{"resource":{"uri":"file:///a","text":""}},"visibility":"public"}`, `{"type":"resource","resource":{"uri":"file:///a","text":""}}`},
		"bytes":         {`{"type":"resource","resource":{"uri":"file:///a/b.bin","blob":"aGk="}}`, `{"type":"artifact_ref","name":"b.bin","artifact_id":"art_0","mime_type":"application/octet-stream","visibility":"public"}`, `{"type":"resource_link","mimeType":"application/octet-stream","uri":"wharf://artifacts/art_0","name":"b.bin"}`},
		"an image":      {`{"type":"image","mimeType":"image/png","data":"aGk=","uri":"file:///a/i.png"}`, `{"type":"image_ref","artifact_id":"art_0","mime_type":"image/png","visibility":"public"}`, `{"type":"image","data":"aGk=","mimeType":"image/png"}`},
		"a sound":       {`{"type":"audio","mimeType":"audio/wav","data":"aGk="}`, `{"type":"artifact_ref","artifact_id":"art_0","mime_type":"audio/wav","visibility":"public"}`, `{"type":"audio","data":"aGk=","mimeType":"audio/wav"}`},
	} {
		read, err := shapes.Read("prompt", jsontext.Value("["+c.in+"]"), shapes.Limits{Blocks: 1, Bytes: 100})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		kept := map[string][]byte{}
		for i, f := range read.Files {
			id := fmt.Sprint("art_", i)
			read.Parts[f.Part].ArtifactID, kept[id] = id, f.Data
			if f.MimeType == "" || f.Kind == "" || string(f.Data) != "hi" {
				t.Errorf("%s: the file %+v", name, f)
			}
		}
		part, _ := json.Marshal(&read.Parts[0])
		b, ok := shapes.BlockOf(&read.Parts[0], func(id string) ([]byte, bool) { return kept[id], kept[id] != nil })
		back, _ := json.Marshal(b)
		if string(part) != c.part || string(back) != c.back || !ok {
			t.Errorf("%s: the part is %s\nwant %s\nand back it is %s\nwant %s", name, part, c.part, back, c.back)
		}
		if err := checker.Params("session/update", []byte(`{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":`+string(back)+`}}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is not content is refused, and the error says where it is.
func TestContentThatIsNone(t *testing.T) {
	for in, want := range map[string]string{
		``:                              "prompt",
		`{}`:                            "prompt",
		`null`:                          "prompt",
		`[]`:                            "prompt",
		`["a"]`:                         "prompt.0",
		`[{}]`:                          "prompt.0.type",
		`[{"type":"text"}]`:             "prompt.0.text",
		`[{"type":"text","text":null}]`: "prompt.0.text",
		`[{"type":"text","text":1}]`:    "prompt.0",
		`[{"type":"text","text":"a","text":"b"}]`:                                                                       "prompt",
		`[{"type":"text","text":"a"},{"type":"video"}]`:                                                                 "prompt.1.type",
		`[{"type":"Text","text":"a"}]`:                                                                                  "prompt.0.type",
		`[{"type":"resource_link","uri":"file:///a"}]`:                                                                  "prompt.0.name",
		`[{"type":"resource_link","name":"a"}]`:                                                                         "prompt.0.uri",
		`[{"type":"image","mimeType":"image/png"}]`:                                                                     "prompt.0.data",
		`[{"type":"image","data":"aGk="}]`:                                                                              "prompt.0.mimeType",
		`[{"type":"image","mimeType":"audio/wav","data":"aGk="}]`:                                                       "prompt.0.mimeType",
		`[{"type":"image","mimeType":"image/png","data":"aGk"}]`:                                                        "prompt.0.data",
		`[{"type":"image","mimeType":"image/png","data":"aG-_"}]`:                                                       "prompt.0.data",
		`[{"type":"image","mimeType":"image/png","data":"aGk=\n"}]`:                                                     "prompt.0.data",
		`[{"type":"image","mimeType":"image/png","data":"aGl="}]`:                                                       "prompt.0.data",
		`[{"type":"image","mimeType":"image/png","data":""}]`:                                                           "prompt.0.data",
		`[{"type":"image","mimeType":"image/png","data":"aGlo"}]`:                                                       "prompt.0.data",
		`[{"type":"audio","mimeType":"audio/wav","data":"aA=="},{"type":"audio","mimeType":"audio/wav","data":"aGk="}]`: "prompt.1.data",
		`[{"type":"resource"}]`:                                                                                         "prompt.0.resource",
		`[{"type":"resource","resource":[]}]`:                                                                           "prompt.0.resource",
		`[{"type":"resource","resource":{"text":"a"}}]`:                                                                 "prompt.0.resource.uri",
		`[{"type":"resource","resource":{"uri":"u"}}]`:                                                                  "prompt.0.resource.text",
		`[{"type":"resource","resource":{"uri":"u","text":"a","blob":"aGk="}}]`:                                         "prompt.0.resource",
		`[{"type":"resource","resource":{"uri":"u","text":"abc"}}]`:                                                     "prompt.0.resource.text",
		`[{"type":"resource","resource":{"uri":"u","blob":"a"}}]`:                                                       "prompt.0.resource.blob",
		`[{"type":"text","text":"1"},{"type":"text","text":"2"},{"type":"text","text":"3"}]`:                            "prompt",
	} {
		_, err := shapes.Read("prompt", jsontext.Value(in), shapes.Limits{Blocks: 2, Bytes: 2})
		var refused *abi.Error
		if !errors.As(err, &refused) || refused.Param != want {
			t.Errorf("%s: %v, want one about %s", in, err, want)
		}
	}
}

// What a reader may not see is no content, and neither is what is told otherwise.
func TestPartsForNobody(t *testing.T) {
	text := "a"
	for name, p := range map[string]abi.Part{
		"withheld":   {Type: abi.PartText, Text: new(string), Visibility: abi.VisibilityInternal, Redacted: true},
		"internal":   {Type: abi.PartText, Text: &text, Visibility: abi.VisibilityInternal},
		"sealed":     {Type: abi.PartText, Text: &text, Visibility: abi.VisibilityReceiptOnly},
		"a call":     {Type: abi.PartToolCall, Name: "a", ToolCallID: "b"},
		"a result":   {Type: abi.PartToolResult, ToolCallID: "b"},
		"no text":    {Type: abi.PartText},
		"no value":   {Type: abi.PartJSON},
		"no place":   {Type: abi.PartFileRef},
		"no id":      {Type: abi.PartArtifactRef},
		"of no type": {},
	} {
		if b, ok := shapes.BlockOf(&p, nil); ok {
			t.Errorf("%s is shown as %+v", name, b)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"type":"text","text":"hi"}]`))
	f.Add([]byte(`[{"type":"image","mimeType":"image/png","data":"aGk="},{"type":"audio","mimeType":"audio/wav","data":"aA=="}]`))
	f.Add([]byte(`[{"type":"resource","resource":{"uri":"file:///a","text":"b"}},{"type":"resource","resource":{"uri":"file:///a","blob":"aGk="}}]`))
	f.Add([]byte(`[{"type":"resource_link","uri":"a/","name":"b"}]`))
	f.Add([]byte(`[{"type":"text","text":"\ud800"}]`))
	f.Add([]byte(strings.Repeat("[", 200)))
	checker, err := acptest.New()
	if err != nil {
		f.Fatal(err)
	}
	const most = 64
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := shapes.Read("prompt", in, shapes.Limits{Blocks: 8, Bytes: most})
		if err != nil {
			var refused *abi.Error
			if !errors.As(err, &refused) || !strings.HasPrefix(refused.Param, "prompt") {
				t.Fatalf("%v says nothing of where", err)
			}
			return
		}
		size := 0
		for _, file := range c.Files {
			size += len(file.Data)
			c.Parts[file.Part].ArtifactID = "art"
		}
		if size > most || len(c.Parts) == 0 || len(c.Parts) > 8 {
			t.Fatalf("%d bytes in %d parts", size, len(c.Parts))
		}
		for i := range c.Parts {
			b, ok := shapes.BlockOf(&c.Parts[i], nil)
			if !ok {
				t.Fatalf("nobody is shown %+v", c.Parts[i])
			}
			text, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			if err := checker.Update([]byte(`{"sessionUpdate":"user_message_chunk","content":` + string(text) + `}`)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
