package program_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/runtime/provider/program"
)

func sh(script string) []string { return []string{"sh", "-c", script} }

// A program answers what it is given, gets no secrets of the node, and says why it failed.
func TestRun(t *testing.T) {
	t.Setenv("WHARF_TEST_SECRET", "canary")
	out, err := program.Run(t.Context(), sh(`cat; env`), []byte("in\n"), 1<<20)
	if err != nil || !strings.HasPrefix(string(out), "in\n") || !strings.Contains(string(out), "PATH=") || strings.Contains(string(out), "canary") {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := program.Run(t.Context(), sh(`echo "it is broken" >&2; exit 3`), nil, 10); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Error(err)
	}
	if _, err := program.Run(t.Context(), []string{"/no/such/program"}, nil, 10); err == nil {
		t.Error("a program that is not there has run")
	}
}

// An answer is as long as it may be, and no longer.
func TestAnswersAreBounded(t *testing.T) {
	if out, err := program.Run(t.Context(), sh(`printf 12345`), nil, 5); err != nil || string(out) != "12345" {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := program.Run(t.Context(), sh(`printf 123456`), nil, 5); !errors.Is(err, program.ErrTooLong) {
		t.Error(err)
	}
}

// What takes too long is killed with what it has started.
func TestTimeIsBounded(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("its time is over"))
	defer cancel()
	if _, err := program.Run(ctx, sh(`sleep 1000 & sleep 1000`), nil, 10); err == nil || err.Error() != "its time is over" {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	if got := program.Environment([]string{"PATH=/bin", "AWS_SECRET_KEY=x", "home=/h"}); !slices.Equal(got, []string{"PATH=/bin", "home=/h"}) {
		t.Error(got)
	}
	if program.Environment(nil) == nil {
		t.Error("nothing would be all of the node's")
	}
}
