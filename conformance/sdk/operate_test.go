package sdk

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestOperate does with each client what operators and scripts do: it installs plugins, hands a Connector
// a delivery, keeps secrets, and sends and takes what is bytes.
func TestOperate(t *testing.T) {
	packed, module := packedPlugin(t), largeModule(t)
	inEach(t, func(t *testing.T, c *client) {
		n := builder.Start(t)
		c.url = n.URL
		session := c.text(t, "session", nil)
		task := c.text(t, "submit", command{"session": session, "persona": "persona_echo", "text": "neap tide"})
		c.text(t, "wait", command{"task": task})
		for _, step := range []struct {
			do   string
			with command
			want []any
		}{
			{"plugins", command{"text": "tide", "package": packed, "module": module},
				[]any{"0.1.0", "persona_tide", true, "second", 2.0, "0.1.0", "disabled", "enabled", true}},
			{"connectors", command{"session": c.text(t, "session", nil), "persona": "persona_echo"}, []any{"accepted", "deduped", 0.0}},
			{"vaults", nil, []any{"crm", "crm.example.com", 0.0}},
			{"files", command{"task": task, "text": "ebb ≈ 4 m"}, []any{"ebb ≈ 4 m", true, "PK"}},
		} {
			if got := c.ask(t, step.do, step.with); !reflect.DeepEqual(got, any(step.want)) {
				t.Errorf("%s: %v, want %v", step.do, got, step.want)
			}
		}
	})
}

// TestFilesAreSentAgain loses the answers of an upload from a file. All of it must be sent again.
func TestFilesAreSentAgain(t *testing.T) {
	module := largeModule(t)
	n := builder.Start(t)
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL
		b := newBetween(t, n, posts, func(count int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			switch count {
			case 0: // when none of it was read
				panic(http.ErrAbortHandler)
			case 1:
				lose(pass, r)
			default:
				pass.ServeHTTP(w, r)
			}
		})
		c.url = b.URL
		name := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return '-'
		}, filepath.Base(t.Name()))
		want := sha256.Sum256(withRoom(t, roomy))
		if got := c.text(t, "install", command{"text": name, "module": module}); got != "sha256:"+hex.EncodeToString(want[:]) {
			t.Errorf("the node has a module with the digest %s", got)
		}
		var p struct{ Versions []any }
		get(t, n, "/wharf/v1/plugins/"+name, &p)
		if seen := b.attempts(); len(seen) != 3 || len(p.Versions) != 1 {
			t.Errorf("after %d attempts the plugin has %d versions", len(seen), len(p.Versions))
		}
	})
}

// echo is the file of a small module.
func echo(t *testing.T) string {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "plugins/bundled/echo.wasm")
}

// roomy is how many bytes of nothing are in the module that largeModule writes.
const roomy = 3 << 20

// largeModule writes a module that takes a while to send.
func largeModule(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "large.wasm")
	if err := os.WriteFile(file, withRoom(t, roomy), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// withRoom returns the module of echo with a section more, which nobody reads, of so many bytes.
func withRoom(t *testing.T, size int) []byte {
	t.Helper()
	module, err := os.ReadFile(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	content := append([]byte("\x04room"), make([]byte, size)...)
	module = append(module, 0) // a custom section
	for left := len(content); ; left >>= 7 {
		if left < 0x80 {
			module = append(module, byte(left))
			break
		}
		module = append(module, byte(left&0x7f)|0x80)
	}
	return append(module, content...)
}

// packedPlugin returns the file of a package, of the module of echo.
func packedPlugin(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	module, err := os.ReadFile(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	manifest := "name = \"tide\"\nversion = \"0.1.0\"\nkind = \"persona\"\nmodule = \"tide.wasm\"\ncapabilities = [\"message.append\"]\n"
	for name, text := range map[string]string{"tide.wasm": string(module), "wharf.toml": manifest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "tide.wharf")
	if out, err := exec.CommandContext(t.Context(), builder.Binary(t), "plugin", "package", dir, "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}
