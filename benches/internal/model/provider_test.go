package model

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// The first piece waits until it may be written, and the pieces together are the text.
func TestAnswersComeInPieces(t *testing.T) {
	p := New()
	defer p.Close()
	resp, err := http.Post(p.server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if len(p.begun) > 0 {
		t.Error("it was begun before it was told to")
	}
	p.Begin()
	if _, err := p.Begun(t.Context()); err != nil {
		t.Fatal(err)
	}
	var text, last string
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if last = data; json.Unmarshal([]byte(data), &chunk) == nil && len(chunk.Choices) > 0 {
			text += chunk.Choices[0].Delta.Content
		}
	}
	if text != Text() || last != "[DONE]" {
		t.Errorf("%q, and at last %q", text, last)
	}
}
