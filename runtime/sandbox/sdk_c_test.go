package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// needs skips a test where a tool is not installed.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: %s is not installed", tool)
		}
	}
}

// said runs a command in a folder, which must do well, and returns what it printed.
func said(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// buildC builds a plugin in C with the header of this tree, or one in C++. A warning is an error.
func buildC(t *testing.T, language, source string) []byte {
	t.Helper()
	return clang(t, source, "--target=wasm32", "-nostdlib", "-Wl,--no-entry", "-x", strings.TrimRight(language, "0123456789"), "-std="+language)
}

// clang builds a plugin with the header of this tree. A warning is an error.
func clang(t *testing.T, source string, arguments ...string) []byte {
	t.Helper()
	needs(t, "clang", "wasm-ld")
	dir := t.TempDir()
	header, err := filepath.Abs("../../sdk/c")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plugin"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	said(t, dir, nil, slices.Concat([]string{"clang", "-O2", "-Wall", "-Wextra", "-Werror", "-I", header}, arguments, []string{"plugin", "-o", "out.wasm"})...)
	wasm, err := os.ReadFile(filepath.Join(dir, "out.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// fileText reads a file of the tree.
func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkGreets runs a plugin that greets whoever the input names, and imports what it needs for that.
func checkGreets(t *testing.T, wasm []byte, imports ...string) {
	t.Helper()
	m := compile(t, newRuntime(t, Config{}), wasm)
	if !slices.Equal(m.Imports(), imports) {
		t.Errorf("it imports %v, want %v", m.Imports(), imports)
	}
	for input, want := range map[string]string{
		`"Ada"`:                             "Hello, Ada!",
		`{"text":"\u00e9\ud83d\ude00\"\\"}`: "Hello, é😀\"\\!",
		`{"role":"user","parts":[{"type":"text","text":"a"},{"type":"json","value":1},{"type":"text","text":"b"}]}`: "Hello, a\n\nb!",
		`17`: "Hello, !",
	} {
		h := newTask(t, input)
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		if len(h.message.Parts) != 1 || h.message.Parts[0].Text == nil || *h.message.Parts[0].Text != want || h.output.Summary != "greeted" {
			t.Errorf("%s: it says %+v and ends with %+v, want %q", input, h.message, h.output, want)
		}
	}
}

// blocks returns the blocks of code of a language in a page.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	var all []string
	for _, block := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?\n)```\n").FindAllStringSubmatch(fileText(t, page), -1) {
		all = append(all, block[1])
	}
	if len(all) == 0 {
		t.Fatalf("%s has no example in %s", page, language)
	}
	return all
}

// checkCounts runs the plugin of the pages about SDKs in a Session that has greeted twice.
func checkCounts(t *testing.T, wasm []byte) {
	t.Helper()
	h := &host{keep: true, answer: func(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		switch call {
		case abi.CallInput:
			return abi.CallOK, newTask(t, `"Ada"`).input, nil
		case abi.CallStateGet:
			return abi.CallOK, []byte(`{"value":2}`), nil
		}
		return abi.CallOK, []byte(`{"message_id":"msg_1"}`), nil
	}}
	if _, err := compile(t, newRuntime(t, Config{}), wasm).Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	compareTraces(t, h.asked, []asked{
		{abi.CallInput, ""}, {abi.CallStateGet, `{"key":"greeted"}`}, {abi.CallStateSet, `{"key":"greeted","value":3}`},
		{abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"Hello, Ada!","visibility":"public"}]}`},
		{abi.CallOutput, `{"summary":"greeted: 3"}`},
	})
}

// TestCDocumentedExample builds the plugin of docs/sdk-c.md, and runs it in the sandbox and by the
// test that the page has.
func TestCDocumentedExample(t *testing.T) {
	needs(t, "gcc")
	source := blocks(t, "../../docs/sdk-c.md", "c")
	checkCounts(t, buildC(t, "c99", source[0]))
	dir := t.TempDir()
	for name, text := range map[string]string{"greet.c": source[0], "greet_test.c": source[1], "wharf.h": fileText(t, "../../sdk/c/wharf.h")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := said(t, dir, nil, "sh", "-c", "gcc -fsanitize=address,undefined -o greet_test greet_test.c && ./greet_test")
	if !strings.HasSuffix(out, "output {\"summary\":\"greeted: 3\"}\n") {
		t.Errorf("the test that the page has says\n%s", out)
	}
}

// TestCGreets runs the header's example as the oldest C and C++ that it is for.
func TestCGreets(t *testing.T) {
	source := fileText(t, "../../sdk/c/examples/greet.c")
	source = strings.Replace(source, `"../wharf.h"`, `"wharf.h"`, 1)
	for _, language := range []string{"c99", "c++11"} {
		t.Run(language, func(t *testing.T) {
			checkGreets(t, buildC(t, language, source), abi.CallInput, abi.CallMessageAppend, abi.CallOutput)
		})
	}
}

// TestCGreetsWithALibrary holds that the header's memory and that of a C library do not meet.
func TestCGreetsWithALibrary(t *testing.T) {
	if _, err := os.Stat("/usr/include/wasm32-wasi"); err != nil {
		t.Skip("skipped: wasi-libc is not installed")
	}
	checkGreets(t, clang(t, withLibrary, "--target=wasm32-wasi", "-mexec-model=reactor", "-x", "c"), abi.CallInput, abi.CallMessageAppend, abi.CallOutput)
}

// withLibrary greets by what C has for it.
const withLibrary = `#include "wharf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static wharf_status greet(const wharf_task *task, wharf_result *result) {
	wharf_text name = wharf_task_text(task);
	char *before = malloc(100000);
	memset(before, 1, 100000);
	char *text = malloc(name.len + 32);
	int n = snprintf(text, name.len + 32, "Hello, %.*s!", (int)name.len, name.data);
	wharf_text hello = {text, (size_t)n};
	result->summary = wharf_str(strdup("greeted"));
	wharf_status failed = wharf_reply(hello);
	for (int i = 0; i < 100000; i++)
		if (before[i] != 1) return wharf_fail("overwritten", hello);
	free(before);
	return failed;
}

WHARF_MAIN(run, greet)
`

// TestCReadsAndWrites runs what the header reads and writes outside of Wasm, where each access that
// is out of bounds is found.
func TestCReadsAndWrites(t *testing.T) {
	needs(t, "gcc")
	binary := filepath.Join(t.TempDir(), "json_test")
	said(t, "../../sdk/c", nil, "gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover", "json_test.c", "-o", binary)
	if out := said(t, ".", nil, binary); out != "" {
		t.Error(out)
	}
}
