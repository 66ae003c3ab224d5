package sandbox

import (
	"regexp"
	"strings"
	"testing"
)

// exampleSources is the folder of the examples of host calls, a plugin in each language but Go.
const exampleSources = "../../abi/internal/sdk/examples"

// BuildExamples builds the plugin of the examples of host calls in a language. In each it exports run, poll
// and normalize.
func BuildExamples(t *testing.T, language string) []byte {
	t.Helper()
	source := func(name string) string { return fileText(t, exampleSources+"/"+name) }
	switch language {
	case "go":
		return goExamples(t)
	case "c":
		return buildC(t, "c99", source("calls.c"))
	case "python":
		return pythonModule(t, source("calls.py"))
	case "typescript":
		return scripted(t, source("calls.ts"))
	case "assemblyscript":
		return buildAssemblyScript(t, source("calls.as.ts"))
	case "rust":
		c := copyCrates(t, map[string]string{"calls": source("calls.rs")})
		c.cargo(t, "wharf-plugin", "build", "--example", "calls", "--target", "wasm32-unknown-unknown")
		return c.wasm(t, "wasm32-unknown-unknown", "examples/calls")
	}
	t.Fatalf("no examples in %s", language)
	return nil
}

// goExamples is a plugin that runs the examples of the SDK's documentation in their order: those of a
// Task, then the one that answers it.
func goExamples(t *testing.T) []byte {
	t.Helper()
	text := strings.Replace(fileText(t, "../../sdk/go/calls_example_test.go"), "package wharf_test", "package main", 1)
	var calls []string
	for _, found := range regexp.MustCompile(`(?m)^func (Example\w+)\(\)`).FindAllStringSubmatch(text, -1) {
		switch found[1] {
		case "ExampleHandler", "ExampleDeliver_call", "ExampleNormalize_call":
		default:
			calls = append(calls, found[1]+"()")
		}
	}
	main := strings.NewReplacer("EXAMPLES", strings.Join(calls, "\n\t")).Replace(`package main

import wharf "github.com/wharf-dev/wharf/sdk/go"

//go:wasmexport run
func run() int32 {
	EXAMPLES
	ExampleHandler()
	return 0
}

//go:wasmexport poll
func poll() int32 {
	return wharf.Run(func(*wharf.Task) (wharf.Result, error) {
		ExampleDeliver_call()
		return wharf.Result{Summary: "polled"}, nil
	})
}

//go:wasmexport normalize
func normalize() int32 {
	ExampleNormalize_call()
	return 0
}

func main() {}
`)
	return buildWithSDK(t, main, text)
}

// CacheDir returns where tests keep what they have compiled, and what it is authenticated with.
func CacheDir() (dir string, key []byte) { return cacheDir, cacheKey }
