package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"
)

// TestExportsAreOffered holds that conformance.json offers every export, and none that is not there.
func TestExportsAreOffered(t *testing.T) {
	text, err := os.ReadFile("conformance.json")
	if err != nil {
		t.Fatal(err)
	}
	var offering struct {
		Skills []struct{ Name, Export string }
	}
	if err := json.Unmarshal(text, &offering); err != nil {
		t.Fatal(err)
	}
	var offered []string
	for _, s := range offering.Skills {
		if s.Export == "" {
			s.Export = s.Name
		}
		offered = append(offered, s.Export)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	var exported []string
	for _, m := range regexp.MustCompile(`(?m)^//go:wasmexport (\w+)$`).FindAllStringSubmatch(string(source), -1) {
		exported = append(exported, m[1])
	}
	slices.Sort(offered)
	slices.Sort(exported)
	if offered = slices.Compact(offered); !slices.Equal(offered, exported) {
		t.Errorf("conformance.json offers\n%v\nand the module exports\n%v", offered, exported)
	}
}

// TestAsksOnlyWhatTheClientCan holds that a client is asked what it has declared, and nothing else.
func TestAsksOnlyWhatTheClientCan(t *testing.T) {
	for capabilities, want := range map[string]string{
		"": "", "sampling": "greeting", "elicitation.form,roots": "user_name client_roots", "elicitation.url": "",
	} {
		var asked []string
		h := &wharftest.Host{Facts: map[string]string{"client.capabilities": capabilities}, Ask: func(q wharf.Questions) ([]wharf.QuestionAnswer, error) {
			answers := make([]wharf.QuestionAnswer, len(q.Requests))
			for i, r := range q.Requests {
				asked = append(asked, r.Key)
				answers[i] = wharf.QuestionAnswer{Key: r.Key, Status: wharf.QuestionAnswered}
			}
			return answers, nil
		}}
		if got := h.Run(askWhatItCan, struct{}{}); got.Failure != nil || strings.Join(asked, " ") != want {
			t.Errorf("of a client that can %q, %v was asked (%v)", capabilities, asked, got.Failure)
		}
	}
}
