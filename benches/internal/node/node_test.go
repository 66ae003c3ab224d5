package node

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// brokenEnv makes the test's own binary behave like a node that cannot start.
const brokenEnv = "WHARF_BENCH_TEST_BROKEN"

func TestMain(m *testing.M) {
	if os.Getenv(brokenEnv) != "" {
		fmt.Println("the data folder is on fire")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestANodeThatCannotStartSaysWhy(t *testing.T) {
	_, err := Start(t.Context(), Options{Binary: os.Args[0], Data: t.TempDir(), Env: []string{brokenEnv + "=1"}})
	if err == nil || !strings.Contains(err.Error(), "the data folder is on fire") {
		t.Errorf("the error is %v", err)
	}
}

func TestAStreamIsReadEventByEvent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "id: 1\nevent: task.started\ndata: {\"id\":\"task_1\"}\n\n: still here\n\n",
			"id: 2\nevent: task.completed\ndata: {\"id\":\"task_0\"}\n\n",
			"id: 3\nevent: task.completed\ndata: {\"id\":\"task_1\"}\n\n",
			"event: error\ndata: {}\n\n")
	}))
	defer server.Close()
	n := &Node{Addr: strings.TrimPrefix(server.URL, "http://")}
	s, err := n.Stream(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Until("task.completed", "task_1"); err != nil {
		t.Error(err)
	}
	if err := s.Until("task.completed", "task_2"); err == nil || !strings.Contains(err.Error(), "ended with an error") {
		t.Errorf("the error event gave %v", err)
	}
}

func TestTheEndOfTheOutputIsKept(t *testing.T) {
	var out tail
	for range 3 {
		fmt.Fprint(&out, strings.Repeat("x", tailSize/2))
	}
	fmt.Fprint(&out, "last words\n")
	if got := out.String(); len(got) > tailSize || !strings.HasSuffix(got, "last words") {
		t.Errorf("kept %d bytes ending in %q", len(got), got[len(got)-10:])
	}
}

func TestAMetricIsReadByItsWholeName(t *testing.T) {
	const text = "# HELP go_goroutines Number.\ngo_goroutines_total 7\ngo_goroutines 12\nlabelled{a=\"b\"} 3\n"
	if got, err := metric(text, "go_goroutines"); err != nil || got != 12 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := metric(text, "labelled"); !errors.Is(err, errNoMetric) {
		t.Errorf("a metric that is not there gave %v", err)
	}
}
