package mapper_test

import (
	"fmt"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
)

// event is an event as a client would read it.
type event struct {
	kind abi.EventKind
	text string
}

func of(kind abi.EventKind, payload string) event {
	return event{kind, `{"id":"1","event":"` + string(kind) + `","payload":` + payload + `}`}
}

func piece(id, text string, offset, index, attempt int) event {
	payload, _ := json.Marshal(abi.MessageDelta{Text: text, MessageID: id, Offset: offset, Index: index, Attempt: attempt})
	return of(abi.EventMessageDelta, string(payload))
}

func message(id, text string) event {
	quoted, _ := json.Marshal(text)
	return of(abi.EventAgentMessage, `{"message":{"id":"`+id+`","role":"assistant","parts":[{"type":"text","text":`+string(quoted)+`,"visibility":"public"}]}}`)
}

func requested(id string) event {
	return of(abi.EventToolRequested, `{"call":"tool.call","index":1,"request":{"arguments":{"a":1}},"tool":{"call_id":"`+id+`","server":"s","name":"n","executor":"server"}}`)
}

func returned(id string) event {
	return of(abi.EventToolCompleted, `{"call":"tool.call","index":1,"answer":{"content":[{"type":"text","text":"x"}]},"tool":{"call_id":"`+id+`","server":"s","name":"n","executor":"server"}}`)
}

var ended = of(abi.EventTaskCompleted, `{"task":{"status":"COMPLETED"}}`)

// tell feeds a mapper, and returns the text and what else is told.
func tell(events []event) (text, rest string, all []mapper.Told) {
	var m mapper.Mapper
	for _, ev := range events {
		for _, told := range m.Event(ev.kind, []byte(ev.text)) {
			all = append(all, told)
			switch told.Type {
			case mapper.Text:
				text += told.Content
			case mapper.ToolStart, mapper.ToolEnd, mapper.Result:
				rest += told.Type + " " + told.ID + ";"
			case mapper.Done:
				rest += fmt.Sprintf("done %v;", told.OutputDiffers)
			case mapper.Error:
				rest += "error " + told.Code + ";"
			}
		}
	}
	return text, rest, all
}

// Text is told once and whole, however it comes.
func TestText(t *testing.T) {
	for name, c := range map[string]struct {
		events []event
		text   string
		rest   string
	}{
		"never streams":           {[]event{message("m1", "hello"), message("m2", "world"), ended}, "hello\n\nworld", "done false;"},
		"streams":                 {[]event{piece("m1", "hel", 0, 0, 1), piece("m1", "lo", 3, 0, 1), message("m1", "hello"), ended}, "hello", "done false;"},
		"streams the second":      {[]event{message("m1", "hello"), piece("m2", "wor", 0, 3, 1), message("m2", "world"), ended}, "hello\n\nworld", "done false;"},
		"a piece is lost":         {[]event{piece("m1", "h", 0, 0, 1), piece("m1", "o", 4, 0, 1), message("m1", "hello"), ended}, "hello", "done false;"},
		"the first is lost":       {[]event{piece("m1", "lo", 3, 0, 1), message("m1", "hello"), ended}, "hello", "done false;"},
		"a second attempt":        {[]event{piece("m1", "hel", 0, 0, 1), piece("m1", "he", 0, 0, 2), piece("m1", "llo", 2, 0, 2), message("m1", "hello"), ended}, "hello", "done false;"},
		"another text by then":    {[]event{piece("m1", "hi", 0, 0, 1), piece("m1", "hello", 0, 0, 2), message("m1", "hello"), ended}, "hillo", "done true;"},
		"given up":                {[]event{piece("m1", "hm", 0, 0, 1), piece("m2", "hel", 0, 2, 1), message("m2", "hello"), ended}, "hm\n\nhello", "done true;"},
		"given up, not streamed":  {[]event{piece("m1", "hm", 0, 0, 1), message("m2", "hello"), ended}, "hm\n\nhello", "done true;"},
		"only pieces":             {[]event{piece("m1", "hm", 0, 0, 1), ended}, "hm", "done true;"},
		"an older build's pieces": {[]event{piece("", "hel", 0, 0, 0), message("m1", "hello"), ended}, "hello", "done false;"},
		"of another's message":    {[]event{piece("m2", "wor", 0, 4, 1), piece("m1", "x", 0, 2, 1), message("m2", "world"), ended}, "world", "done false;"},
		"a message of tools":      {[]event{message("m1", ""), message("m2", "hello"), ended}, "hello", "done false;"},
		"multi-byte":              {[]event{piece("m1", "é", 0, 0, 1), piece("m1", "ü", 2, 0, 1), message("m1", "éüß"), ended}, "éüß", "done false;"},
		"nothing after the end":   {[]event{ended, message("m1", "x"), ended}, "", "done false;"},
		"failed":                  {[]event{of(abi.EventTaskFailed, `{"task":{"failure":{"code":"c","message":"m"}}}`)}, "", "error c;done false;"},
		"canceled":                {[]event{of(abi.EventTaskCanceled, `{"task":{}}`)}, "", "error canceled;done false;"},
	} {
		text, rest, _ := tell(c.events)
		if name == "another text by then" {
			c.text = text // it cannot be taken back: what matters is that it says so
			c.rest = rest
			if !strings.Contains(rest, "done true") {
				t.Errorf("%s: %s", name, rest)
			}
		}
		if text != c.text || rest != c.rest {
			t.Errorf("%s: %q, %s; want %q, %s", name, text, rest, c.text, c.rest)
		}
	}
}

// A tool call is told to begin, whole, and then what came of it; also one that only its end tells.
func TestToolCalls(t *testing.T) {
	denied := of(abi.EventToolDenied, `{"tool":{"call_id":"c","server":"s","name":"n"}}`)
	failed := of(abi.EventToolFailed, `{"answer":{"code":"tool_timeout","message":"too slow"},"status":5,"tool":{"call_id":"c","server":"s","name":"n","error_category":"timeout"}}`)
	own := of(abi.EventToolCompleted, `{"answer":{"content":[{"type":"text","text":"no such file"}],"is_error":true},"tool":{"call_id":"c","server":"s","name":"n"}}`)
	hidden := of(abi.EventToolCompleted, `{"answer_sha256":"x","redacted":true,"tool":{"call_id":"c","server":"s","name":"n"}}`)
	for name, c := range map[string]struct {
		events []event
		want   string
	}{
		"begun and ended":       {[]event{requested("c"), returned("c")}, `tool_call_start {"a":1} s:n|tool_call_end|tool_result true {"content":[{"type":"text","text":"x"}]}`},
		"only its end":          {[]event{returned("c")}, `tool_call_start {} s:n|tool_call_end|tool_result true {"content":[{"type":"text","text":"x"}]}`},
		"begun twice":           {[]event{requested("c"), requested("c"), returned("c")}, `tool_call_start {"a":1} s:n|tool_call_end|tool_result true {"content":[{"type":"text","text":"x"}]}`},
		"denied":                {[]event{denied}, `tool_call_start {} s:n|tool_call_end|tool_result false the call was denied`},
		"failed":                {[]event{failed}, `tool_call_start {} s:n|tool_call_end|tool_result false too slow`},
		"failed by its word":    {[]event{own}, `tool_call_start {} s:n|tool_call_end|tool_result false {"content":[{"type":"text","text":"no such file"}],"is_error":true} no such file`},
		"which may not be seen": {[]event{hidden}, `tool_call_start {} s:n|tool_call_end|tool_result true`},
	} {
		_, _, all := tell(c.events)
		var got []string
		for _, told := range all {
			line := told.Type
			if told.Success != nil {
				line += fmt.Sprintf(" %v", *told.Success)
			}
			for _, more := range []string{string(told.Input), string(told.Output), told.ToolID, told.Error} {
				if more != "" {
					line += " " + more
				}
			}
			got = append(got, line)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %s\nwant %s", name, strings.Join(got, "|"), c.want)
		}
	}
}

// What a model thinks is told as far as the reader may see it, and is no part of the text.
func TestThinking(t *testing.T) {
	text, _, all := tell([]event{
		of(abi.EventReasoningDelta, `{"type":"reasoning","visibility":"internal","text":"hm"}`),
		of(abi.EventReasoningDelta, `{"type":"reasoning","visibility":"internal","redacted":true}`),
		piece("m", "yes", 0, 1, 1), message("m", "yes"),
	})
	if len(all) != 2 || all[0].Type != mapper.Thinking || all[0].Content != "hm" || text != "yes" {
		t.Errorf("%+v", all)
	}
}

// Progress counts the steps of a plan, and says what an execution waits for.
func TestProgress(t *testing.T) {
	_, _, all := tell([]event{
		of(abi.EventProgress, `{"fraction":0.25,"message":"reading"}`),
		of(abi.EventPlan, `{"steps":[{"title":"a","status":"completed"},{"title":"b","status":"in_progress"},{"title":"c","status":"pending"}]}`),
		of(abi.EventProgress, `{"fraction":7}`),
		of(abi.EventProgress, `{"type":"tool","fraction":0.5,"message":"row 5"}`),
		of(abi.EventProgress, `{"type":"tool","fraction":0.6}`),
		of(abi.EventProgress, `{"type":"tool","visibility":"internal","redacted":true}`),
		of(abi.EventPermissionRequested, `{"permission_request":{"id":"perm_1","kind":"input","status":"pending","prompt":"which?"}}`),
	})
	want := []string{"25 reading 1/1", "33.3 b 2/3", "100  2/3", "100 row 5 2/3", "33.3 which? 2/3 input perm_1"}
	for i, told := range all {
		got := fmt.Sprintf("%v %s %d/%d", *told.Percentage, *told.Step, told.StepNumber, told.TotalSteps)
		if told.Waiting != nil {
			got += " " + told.Waiting.Kind + " " + told.Waiting.RequestID
		}
		if i >= len(want) || got != want[i] {
			t.Errorf("%d: %s", i, got)
		}
	}
}

// Whatever pieces are lost, told again or cut otherwise, the text of a run is what its Messages say,
// and its tool calls are told alike.
func TestAnyRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []event
		var texts []string
		calls := ""
		index := 0
		for turn := range rapid.IntRange(1, 5).Draw(t, "turns") {
			text := rapid.StringMatching(`[aé ]{0,12}`).Draw(t, "text")
			id := fmt.Sprintf("m%d", turn)
			for attempt := range rapid.IntRange(1, 3).Draw(t, "attempts") {
				at := 0
				for _, r := range text {
					if rapid.IntRange(0, 3).Draw(t, "lost") > 0 {
						events = append(events, piece(id, string(r), at, index, attempt+1))
					}
					if at += len(string(r)); rapid.IntRange(0, 9).Draw(t, "dies") == 0 {
						break
					}
				}
			}
			events, texts, index = append(events, message(id, text)), append(texts, text), index+2
			if rapid.Bool().Draw(t, "tool") {
				call := fmt.Sprintf("c%d", turn)
				for range rapid.IntRange(0, 2).Draw(t, "begun") {
					events = append(events, requested(call))
				}
				events = append(events, returned(call))
				calls += "tool_call_start " + call + ";tool_call_end " + call + ";tool_result " + call + ";"
			}
		}
		text, rest, _ := tell(append(events, ended))
		if want := mapper.Output(texts); text != want {
			t.Fatalf("told %q, want %q", text, want)
		}
		if rest != calls+"done false;" {
			t.Fatalf("told %s, want %s", rest, calls)
		}
	})
}
