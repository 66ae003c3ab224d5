package replay

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// The override keys of a Task's own times. They change the receipt, and nothing
// that the plugin is told.
const (
	KeyCreatedAt   = "time:created_at"
	KeyStartedAt   = "time:started_at"
	KeyCompletedAt = "time:completed_at"
)

// Replacement is an override that was checked against a record.
type Replacement struct {
	Key    string
	Index  int       // of the call whose answer it replaces; -1 for one of the Task's own times
	Answer []byte    // of that call
	Time   time.Time // for one of the Task's own times
	Delta  receipt.Delta
}

// Keys lists the override keys of a record, in the order of its calls.
func Keys(rec *journal.Record) []string {
	keys := []string{KeyCreatedAt, KeyStartedAt, KeyCompletedAt}
	for i := range rec.Entries {
		if e := &rec.Entries[i]; e.Key != "" && !e.Open {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// CheckHash reports an override whose stated hash is not that of its content: of
// the canonical value ([journal.CanonicalValue]), or of an Artifact's bytes.
func CheckHash(key string, o *abi.ReplayOverride, content []byte) (hash string, err error) {
	if o.ArtifactID == "" {
		canonical, err := journal.CanonicalValue(o.Value)
		if err != nil {
			return "", abi.InvalidParam("override."+key+".value", "the value is not well-formed JSON: %v", err)
		}
		content = canonical
	}
	hash = journal.HashOf(content)
	if o.SHA256 != "" && o.SHA256 != hash && o.SHA256 != roundedHash(o) {
		return "", abi.InvalidParam("override."+key+".sha256", "the stated sha256 is %s; the content has %s", o.SHA256, hash)
	}
	return hash, nil
}

// roundedHash is the hash of a value in the form of RFC 8785, which clients may state.
// It is another one than that of the canonical form where that has numbers which are
// no doubles.
func roundedHash(o *abi.ReplayOverride) string {
	if o.ArtifactID != "" {
		return ""
	}
	rounded, err := jcs.Transform(o.Value)
	if err != nil {
		return ""
	}
	return journal.HashOf(rounded)
}

// Resolve checks an override against a record. content is what it replaces with:
// its value, or the content of its Artifact.
func Resolve(rec *journal.Record, key string, o *abi.ReplayOverride, content []byte) (Replacement, error) {
	hash, err := CheckHash(key, o, content)
	if err != nil {
		return Replacement{}, err
	}
	if o.ArtifactID == "" { // two spellings of one value are the same replay
		if content, err = journal.CanonicalValue(content); err != nil {
			return Replacement{}, err
		}
	}
	r := Replacement{Key: key, Index: -1}
	r.Delta = receipt.Delta{
		DeltaID: "delta_" + strings.NewReplacer(":", "_", "/", "_").Replace(key), Operation: "replace", OverrideKey: key,
		EventID: o.EventID, AfterSHA256: hash, ArtifactID: o.ArtifactID, Reason: o.Reason,
	}
	if own := ownTime(rec, key); own != nil {
		return resolveTime(r, *own, content)
	}
	i := slices.IndexFunc(rec.Entries, func(e journal.Entry) bool { return key != "" && e.Key == key && !e.Open })
	if i < 0 {
		return r, abi.InvalidParam("override", "%q is no override key of this task; its keys are %s", key, strings.Join(Keys(rec), ", "))
	}
	e := &rec.Entries[i]
	if !fits(o.Kind, e.Call) {
		return r, abi.InvalidParam("override."+key+".kind", "a %s cannot answer %s", o.Kind, e.Call)
	}
	before := journal.HashOf(e.Answer)
	r.Index, r.Delta.Path, r.Delta.BeforeSHA256 = e.Index, "/replay_input/materials/"+key, before
	if r.Delta.EventID == "" {
		r.Delta.EventID = e.EventID
	}
	if o.EventID != "" && e.EventID != "" && o.EventID != e.EventID {
		return r, abi.InvalidParam("override."+key+".event_id", "%s is recorded by event %s, not %s", key, e.EventID, o.EventID)
	}
	r.Answer, err = answerFor(e, o, content)
	if err != nil {
		return r, abi.InvalidParam("override."+key+".value", "the value cannot answer %s: %v", e.Call, err)
	}
	return r, nil
}

// fits reports whether an override of a kind can answer a call. The kinds that name
// no source fit every call.
func fits(kind abi.OverrideKind, call string) bool {
	switch kind {
	case abi.OverrideModel:
		return call == abi.CallLLMComplete
	case abi.OverrideMCP:
		return abi.CountsAsTool(call) || call == abi.CallResourceList
	case abi.OverrideSecret:
		return call == abi.CallSecretUse
	case abi.OverrideTime:
		return call == abi.CallClock
	}
	return call != abi.CallSecretUse
}

func ownTime(rec *journal.Record, key string) *time.Time {
	switch key {
	case KeyCreatedAt:
		return &rec.CreatedAt
	case KeyStartedAt:
		return &rec.StartedAt
	case KeyCompletedAt:
		return &rec.EndedAt
	}
	return nil
}

func resolveTime(r Replacement, recorded time.Time, content []byte) (Replacement, error) {
	var text string
	err := json.Unmarshal(content, &text)
	if err == nil {
		r.Time, err = time.Parse(time.RFC3339Nano, text)
	}
	if err != nil {
		return r, abi.InvalidParam("override."+r.Key+".value", "a time is an RFC 3339 string: %v", err)
	}
	r.Time = abi.At(r.Time)
	r.Delta.Path = "/lifecycle/" + strings.TrimPrefix(r.Key, "time:")
	before := journal.HashOf([]byte(strconv.Quote(recorded.UTC().Format(time.RFC3339Nano))))
	r.Delta.BeforeSHA256 = before
	return r, nil
}

// answerFor turns what an override says into the bytes that a call answers with.
func answerFor(e *journal.Entry, o *abi.ReplayOverride, content []byte) ([]byte, error) {
	switch {
	case o.Kind == abi.OverrideSecret || e.Call == abi.CallSecretUse:
		return e.Answer, nil // the plugin only ever had a handle
	case e.Call == abi.CallRandom, e.Call == abi.CallArtifactGet:
		return bytesFor(content, o.ArtifactID != "")
	case journal.SameValue(content, e.Answer):
		return e.Answer, nil // to the byte what was recorded
	}
	answer, err := AnswerTo(e.Call, content)
	if err == nil && e.Call == abi.CallAgentDelegate {
		err = checkHandoff(e, content)
	}
	return answer, err
}

// AnswerTo turns the JSON that somebody has written for an answer into the bytes that a call
// answers with. A model's may be written as a chat completion, a clock's as an RFC 3339 time,
// a tool's as what it returns, and randomness as base64.
func AnswerTo(call string, content []byte) ([]byte, error) {
	switch {
	case !jsontext.Value(content).IsValid():
		return nil, fmt.Errorf("it is not JSON")
	case abi.TooDeep(content, abi.MaxDepth) >= 0:
		return nil, fmt.Errorf("it nests deeper than %d levels", abi.MaxDepth)
	}
	switch call {
	case abi.CallLLMComplete:
		return modelAnswer(content)
	case abi.CallClock:
		return clockAnswer(content)
	case abi.CallToolCall:
		return toolAnswer(content)
	case abi.CallRandom, abi.CallArtifactGet:
		return bytesFor(content, false)
	}
	answer := jsontext.Value(content).Clone()
	err := answer.Compact()
	return answer, err
}

// checkHandoff refuses an answer that names Artifacts that the call has not made: they would be in the
// receipt of the replay as what came of it.
func checkHandoff(e *journal.Entry, content []byte) error {
	was, err := journal.ReadDelegation(e)
	if err != nil {
		return err
	}
	var answer abi.CallAgentDelegateAnswer
	if err := read(content, &answer); err != nil || answer.Handoff == nil {
		return err
	}
	for _, a := range answer.Handoff.Artifacts {
		if was.Answer.Handoff == nil || !slices.Contains(was.Answer.Handoff.Artifacts, a) {
			return fmt.Errorf("artifact %s is none that this call has made", a.ArtifactID)
		}
	}
	return nil
}

// read decodes what an override says, unless there is too much in it.
func read(content []byte, into any) error {
	if _, err := abi.Weigh(content, reflect.TypeOf(into)); err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// bytesFor reads bytes: an Artifact's, or base64 in a JSON string.
func bytesFor(content []byte, raw bool) ([]byte, error) {
	if raw {
		return content, nil
	}
	var b []byte
	err := json.Unmarshal(content, &b)
	return b, err
}

// clockAnswer reads a time: RFC 3339, or the answer itself.
func clockAnswer(content []byte) ([]byte, error) {
	var text string
	if json.Unmarshal(content, &text) != nil {
		var whole abi.CallClockAnswer
		if err := json.Unmarshal(content, &whole); err != nil {
			return nil, err
		}
		if _, err := strconv.ParseInt(whole.UnixNano, 10, 64); err != nil {
			return nil, err
		}
		return json.Marshal(whole)
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return nil, err
	}
	return json.Marshal(abi.CallClockAnswer{UnixNano: strconv.FormatInt(at.UnixNano(), 10)})
}

// toolAnswer reads a tool's answer, or takes any other JSON for its structured
// content.
func toolAnswer(content []byte) ([]byte, error) {
	var whole abi.CallToolCallAnswer
	if err := read(content, &whole); err == nil && whole.Content != nil {
		return json.Marshal(&whole)
	}
	return json.Marshal(&abi.CallToolCallAnswer{
		Content:    []abi.ToolContent{{Type: "text", Text: string(content)}},
		Structured: jsontext.Value(content),
	})
}

// modelAnswer reads a model's answer in the neutral form, or a chat completion as
// OpenAI writes it.
func modelAnswer(content []byte) ([]byte, error) {
	var completion struct {
		Model   string `json:"model"`
		Choices []struct {
			Message struct {
				Content   string `json:"content"`
				ToolCalls []struct {
					ID       string `json:"id"`
					Function struct {
						Name      string `json:"name"`
						Arguments string `json:"arguments"`
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"message"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := read(content, &completion); err != nil || len(completion.Choices) == 0 {
		var whole abi.ModelAnswer
		if err := read(content, &whole); err != nil {
			return nil, err
		}
		switch {
		case whole.StopReason != "":
		case len(whole.ToolCalls) > 0:
			whole.StopReason = abi.StopTools
		case whole.Text != "":
			whole.StopReason = abi.StopEnd
		default:
			return nil, fmt.Errorf(`it is neither a model's answer ("text", "stop_reason") nor a chat completion ("choices")`)
		}
		return json.Marshal(&whole)
	}
	first := completion.Choices[0]
	answer := abi.ModelAnswer{Provider: "override", Model: completion.Model, Text: first.Message.Content, StopReason: abi.StopEnd,
		Currency: "USD", Route: "answered by an override"}
	if answer.Model == "" {
		answer.Model = "override"
	}
	switch first.FinishReason {
	case "length":
		answer.StopReason = abi.StopLength
	case "content_filter":
		answer.StopReason = abi.StopRefusal
	}
	for _, call := range first.Message.ToolCalls {
		answer.StopReason = abi.StopTools
		if call.Function.Arguments == "" {
			call.Function.Arguments = "{}"
		}
		answer.ToolCalls = append(answer.ToolCalls, abi.ModelToolCall{ID: call.ID, Name: call.Function.Name, Arguments: jsontext.Value(call.Function.Arguments)})
	}
	return json.Marshal(&answer)
}

// ID derives the id of a replay: it is the same for the same replay, on any node.
// hashes has the content's hash of each override.
func ID(rec *journal.Record, mode abi.ReplayMode, checkpoint int, overrides map[string]abi.ReplayOverride, hashes map[string]string) string {
	h := sha256.New()
	version := 1
	if rec.End != nil && rec.End.Stopped { // before, such a replay could end in another way than its source
		version = 2
	}
	fmt.Fprintf(h, "replay %d\n%s\n%s\n%s\n%d\n", version, rec.TaskID, rec.Program.Module, mode, checkpoint)
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		o := overrides[key]
		fmt.Fprintf(h, "%q %q %q %q %q %q\n", key, o.Kind, hashes[key], o.EventID, o.ArtifactID, o.Reason)
	}
	return fmt.Sprintf("task_replay_%x", h.Sum(nil)[:16])
}
