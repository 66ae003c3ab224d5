package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/internal/loopback"
)

// demoProcess is the program as "wharf demo", with its temporary files in a folder of the test.
func demoProcess(t *testing.T, args ...string) (cmd *exec.Cmd, tmp string) {
	t.Helper()
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	tmp = t.TempDir()
	cmd = exec.Command("wharf", append([]string{"demo"}, args...)...)
	cmd.Path, cmd.Err = program, nil
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "XDG_CACHE_HOME="+workshop)
	return cmd, tmp
}

// checkNothingIsLeft holds that a demo has taken away its folder and its node.
func checkNothingIsLeft(t *testing.T, tmp string) {
	t.Helper()
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("it left %v behind (%v)", left, err)
	}
	if nodes := processesOf(t, tmp); len(nodes) > 0 {
		t.Errorf("these processes go on: %q", nodes)
	}
}

// processesOf returns the command lines of processes that name a folder, where the system can tell.
func processesOf(t *testing.T, folder string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(text, []byte(folder)) {
			lines = append(lines, string(bytes.ReplaceAll(text, []byte{0}, []byte(" "))))
		}
	}
	return lines
}

// TestAnInterruptedDemoLeavesNothingBehind interrupts it after each of its steps.
func TestAnInterruptedDemoLeavesNothingBehind(t *testing.T) {
	for step := range len((&demo{}).story()) {
		sig := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[step%3]
		t.Run(fmt.Sprintf("%s after step %d", sig, step), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skipf("this test runs under something that ignores %v, such as nohup; so does whatever it starts", sig)
			}
			cmd, tmp := demoProcess(t, "--json")
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for range step {
				if !lines.Scan() {
					t.Fatal("the output ended")
				}
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
			}
			_ = cmd.Wait()
			// It may have come to its end before it was told, or to none of its own if it had hardly begun.
			if code := cmd.ProcessState.ExitCode(); step > 0 && code != exitInterrupted && code != exitOK {
				t.Errorf("it ended with %d", code)
			}
			checkNothingIsLeft(t, tmp)
		})
	}
}

// TestAKilledDemoTakesItsNodeAlong kills it in a way that it cannot see coming.
func TestAKilledDemoTakesItsNodeAlong(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("this system does not tell of processes")
	}
	cmd, tmp := demoProcess(t, "--json")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("it says nothing")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for ctx := t.Context(); len(processesOf(t, tmp)) > 0; {
		select {
		case <-ctx.Done():
			t.Fatal("its node goes on")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestDemosBesideEachOther runs two at a time. All they say fits a terminal of 80 columns.
func TestDemosBesideEachOther(t *testing.T) {
	var both sync.WaitGroup
	for range 2 {
		cmd, tmp := demoProcess(t)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		both.Go(func() {
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v\n%s%s", err, out, &errs)
			}
			checkLines(t, string(out))
			checkNothingIsLeft(t, tmp)
		})
	}
	both.Wait()
}

// checkLines holds a text to a terminal of 80 columns.
func checkLines(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestDemoEndsWithin80Columns is about the longest way to run the program: by go run.
func TestDemoEndsWithin80Columns(t *testing.T) {
	defer func(name string) { os.Args[0] = name }(os.Args[0])
	for _, name := range []string{"wharf", "./bin/wharf", filepath.Join(t.TempDir(), "go-build12", "wharf")} {
		os.Args[0] = name
		var out bytes.Buffer
		a := &app{out: show.NewScreen(&out, "never", func(string) string { return "" })}
		d := &demo{app: a, tell: newDemoTeller(a)}
		d.introduce()
		d.conclude()
		checkLines(t, out.String())
		if !strings.Contains(out.String(), self()+" serve") {
			t.Errorf("started as %s it says\n%s", name, &out)
		}
		for _, s := range append(d.story(), d.visit()...) {
			if n := len(s.slow); n > demoText {
				t.Errorf("%q has %d characters", s.slow, n)
			}
		}
	}
}

// TestDemoSaysWhatItWaitsFor holds that a step that takes long says so, once where nobody watches.
func TestDemoSaysWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, errs bytes.Buffer
		a := &app{stderr: &errs, env: func(string) string { return "" }}
		a.out = show.NewScreen(&out, "never", a.env)
		tell := newDemoTeller(a)
		for _, length := range []time.Duration{demoPatience / 2, 3*demoPatience + 1} {
			err := tell.step(t.Context(), demoStep{"s", "a long wait", func(context.Context) (string, error) {
				time.Sleep(length)
				return "waited", nil
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
		if errs.String() != "  … a long wait\n" || !strings.Contains(out.String(), "waited") || !strings.Contains(out.String(), " 3.0 s") {
			t.Errorf("it says %q and %q", &out, &errs)
		}
	})
}

var documentSize = regexp.MustCompile(`README.md \(.*?\)`)

// TestReadmeShowsTheDemo holds what the README shows to what the demo says, but for the size of the README.
func TestReadmeShowsTheDemo(t *testing.T) {
	readme, err := os.ReadFile(filepath.FromSlash("../../README.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)<!-- demo -->\n```text\n(.*?)```").FindSubmatch(readme)
	if shown == nil {
		t.Fatal("the README shows no demo")
	}
	recorded := recordDemo(t)
	want, got := documentSize.ReplaceAllString(recorded, "README.md"), documentSize.ReplaceAllString(string(shown[1]), "README.md")
	if got != want {
		t.Errorf("the README shows\n%s\nand wharf demo --record FILE writes\n%s", got, want)
	}
	if strings.Contains(recorded, "\x1b") || regexp.MustCompile(`\d s\b|_01|127\.0`).MatchString(recorded) {
		t.Errorf("a recording has what differs from one to the next:\n%s", recorded)
	}
	checkLines(t, recorded)
}

func recordDemo(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "demo.txt")
	cmd, _ := demoProcess(t, "--color", "always", "--record", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDemoSaysWhatToTry runs the commands that it ends with, but for the address.
func TestDemoSaysWhatToTry(t *testing.T) {
	_, end, _ := strings.Cut(recordDemo(t), "\ntry next\n")
	lines := regexp.MustCompile(`(?m)^  (.*)$`).FindAllStringSubmatch(end, -1)
	if len(lines) != 2 || !strings.HasSuffix(lines[0][1], " wharf serve") {
		t.Fatalf("it ends with %q", end)
	}
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	address, dir := loopback.Free(t), t.TempDir()
	shell := func(line string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", strings.Replace(line, " wharf ", " exec wharf ", 1))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"),
			"WHARF_SERVER=http://"+address, "WHARF_PLUGINS_CACHE="+pluginCache(), "WHARF_PLUGINS_CACHE_KEY="+pluginCacheKey())
		return cmd
	}
	p, err := startProcess(shell(lines[0][1]+" --listen "+address+" --log-format json"), filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(syscall.SIGKILL) })
	if out, err := shell(lines[1][1]).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("outcome  SUCCEEDED")) {
		t.Errorf("%s: %v\n%s", lines[1][1], err, out)
	}
}
