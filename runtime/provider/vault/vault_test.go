package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"pgregory.net/rapid"
)

const canary = "canary-value-of-a-vault"

func config(dir string) Config {
	return Config{Dir: filepath.Join(dir, "vaults"), KeyFile: filepath.Join(dir, "keys", "vault.age"), Log: slog.New(slog.DiscardHandler)}
}

func seal(t *testing.T, s *Store, id string, version int, value string) string {
	t.Helper()
	sealed, err := s.Seal(t.Context(), id, version, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func wantValue(t *testing.T, s *Store, id string, version int, sealed, want string) {
	t.Helper()
	if got, err := s.Open(t.Context(), id, version, sealed); err != nil || string(got) != want {
		t.Errorf("%s version %d is %q, %v; want %q", id, version, got, err, want)
	}
}

// files returns the files below a folder, by path.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestValuesAreKeptEncrypted(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	c := config(dir)
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := New(c)
	if _, err := s.Open(t.Context(), "vsec_a.x", 1, ""); !errors.Is(err, ErrAbsent) {
		t.Errorf("a value that was never kept: %v", err)
	}
	if len(files(t, dir)) > 0 {
		t.Error("it wrote something before it was given anything to keep")
	}
	first, second := seal(t, s, "vsec_a.x", 1, canary), seal(t, s, "vsec_a.X", 1, canary)
	if first == second || strings.Contains(first, canary) {
		t.Errorf("the same value is stated as %s and %s", first, second)
	}
	for _, at := range []*Store{s, New(c)} {
		wantValue(t, at, "vsec_a.x", 1, first, canary)
		wantValue(t, at, "vsec_a.X", 1, second, canary)
	}
	for path, content := range files(t, dir) {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
		}
		if bytes.Contains(content, []byte(canary)) {
			t.Errorf("%s holds the value", path)
		}
	}
	if n := strings.Count(log.String(), c.KeyFile); n != 1 {
		t.Errorf("the log tells %d times of the key: %s", n, &log)
	}
}

func TestOldVersionsAndRemovedSecretsAreGone(t *testing.T) {
	dir := t.TempDir()
	s := New(config(dir))
	for version := 1; version <= 3; version++ {
		seal(t, s, "vsec_a.x", version, canary)
	}
	other := seal(t, s, "vsec_a.y", 1, "other")
	if err := s.Keep("vsec_a.x", 3); err != nil {
		t.Fatal(err)
	}
	if n := len(files(t, s.config.Dir)); n != 2 {
		t.Errorf("%d files are left of 2", n)
	}
	for range 2 { // a second time does no harm
		if err := s.Keep("vsec_a.x", 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Open(t.Context(), "vsec_a.x", 3, ""); !errors.Is(err, ErrAbsent) {
		t.Errorf("a removed secret: %v", err)
	}
	wantValue(t, s, "vsec_a.y", 1, other, "other")
}

// TestExchangedFilesAreNoticed puts files where others belong, and damages them.
func TestExchangedFilesAreNoticed(t *testing.T) {
	s := New(config(t.TempDir()))
	mine, theirs := seal(t, s, "vsec_a.x", 2, "mine"), seal(t, s, "vsec_b.x", 2, "theirs")
	old := seal(t, s, "vsec_a.x", 1, "old")
	good, err := os.ReadFile(s.path("vsec_a.x", 2))
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"another secret": s.path("vsec_b.x", 2), "an older version": s.path("vsec_a.x", 1)} {
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(s.path("vsec_a.x", 2), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Open(t.Context(), "vsec_a.x", 2, mine); err == nil || got != nil {
			t.Errorf("%s was taken: %q", name, got)
		}
	}
	for i := 0; i < len(good); i += 7 {
		bad := slices.Clone(good)
		bad[i] ^= 1
		if err := os.WriteFile(s.path("vsec_a.x", 2), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Open(t.Context(), "vsec_a.x", 2, mine); err == nil {
			t.Errorf("byte %d was changed, and it is %q", i, got)
		}
	}
	wantValue(t, s, "vsec_b.x", 2, theirs, "theirs")
	wantValue(t, s, "vsec_a.x", 1, old, "old")
}

func TestALostKeyIsNotReplaced(t *testing.T) {
	c := config(t.TempDir())
	sealed := seal(t, New(c), "vsec_a.x", 1, canary)
	key, err := os.ReadFile(c.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(c.KeyFile); err != nil {
		t.Fatal(err)
	}
	s := New(c)
	if _, err := s.Seal(t.Context(), "vsec_a.y", 1, []byte("x")); err == nil || !strings.Contains(err.Error(), "backup") {
		t.Errorf("it went on without its key: %v", err)
	}
	for name, content := range map[string][]byte{"empty": {}, "cut": key[:len(key)-5], "nonsense": []byte(canary)} {
		if err := os.WriteFile(c.KeyFile, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(c).Open(t.Context(), "vsec_a.x", 1, sealed); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(c.KeyFile, key, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(c.KeyFile, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(c).Open(t.Context(), "vsec_a.x", 1, sealed); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that all can read: %v", err)
	}
}

// TestRotationMayBeCutShortAnywhere stops a rotation at each of its steps, as the end
// of the process would, and goes on with what is on disk.
func TestRotationMayBeCutShortAnywhere(t *testing.T) {
	errStop := errors.New("stop")
	for stop := 0; ; stop++ {
		c := config(t.TempDir())
		s := New(c)
		sealed := map[string]string{}
		for _, id := range []string{"vsec_a.x", "vsec_a.y", "vsec_b.x"} {
			sealed[id] = seal(t, s, id, 1, "value of "+id)
		}
		blind, err := s.Blind(t.Context(), []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(c.KeyFile)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		s.fault = func(string) error {
			if n++; n > stop {
				return errStop
			}
			return nil
		}
		_, cut := s.Rotate(t.Context())
		if cut != nil && !errors.Is(cut, errStop) {
			t.Fatal(cut)
		}
		again := New(c)
		for id := range sealed {
			wantValue(t, again, id, 1, sealed[id], "value of "+id)
		}
		later := seal(t, again, "vsec_a.z", 1, "later")
		if cut != nil {
			if _, err := again.Rotate(t.Context()); err != nil {
				t.Fatalf("going on after step %d: %v", stop, err)
			}
		}
		again = New(c)
		for id := range sealed {
			wantValue(t, again, id, 1, sealed[id], "value of "+id)
		}
		wantValue(t, again, "vsec_a.z", 1, later, "later")
		if now, err := again.Blind(t.Context(), []byte("text")); err != nil || !bytes.Equal(now, blind) {
			t.Errorf("requests are told apart otherwise after a rotation: %v", err)
		}
		wantUseless(t, c, before)
		if cut == nil {
			if stop < 5 {
				t.Errorf("only %d steps", stop)
			}
			return
		}
	}
}

// wantUseless makes sure that an old key reads nothing and is nowhere.
func wantUseless(t *testing.T, c Config, key []byte) {
	t.Helper()
	ids, err := parse(string(key))
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	for path, content := range files(t, filepath.Dir(c.Dir)) {
		if bytes.Contains(content, []byte(ids[0].String())) {
			t.Errorf("%s still holds the old key", path)
		}
		if strings.HasSuffix(path, ".age") && path != c.KeyFile {
			if _, err := ids.decrypt(content); err == nil {
				t.Errorf("the old key reads %s", path)
			}
		}
	}
}

func TestRotationToAKeyOfTheOperators(t *testing.T) {
	key := func() string {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		return id.String()
	}
	old, fresh := key(), key()
	stated := "# old\n" + old + "\n"
	c := config(t.TempDir())
	c.Key = func(context.Context) (string, error) { return stated, nil }
	s := New(c)
	sealed := seal(t, s, "vsec_a.x", 1, canary)
	stated = fresh + "\n" + old + "\n"
	done, err := s.Rotate(t.Context())
	if err != nil || done.Own || done.Files != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	stated = fresh
	wantValue(t, New(c), "vsec_a.x", 1, sealed, canary)
	if _, err := os.Stat(c.KeyFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the node has made a key of its own: %v", err)
	}
	stated = key()
	if _, err := New(c).Open(t.Context(), "vsec_a.x", 1, sealed); err == nil {
		t.Error("another key reads it")
	}
	if _, err := New(c).Rotate(t.Context()); err == nil {
		t.Error("a rotation to a key that cannot read the old values")
	}
}

func TestUseDuringRotation(t *testing.T) {
	s := New(config(t.TempDir()))
	sealed := seal(t, s, "vsec_a.x", 1, canary)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				wantValue(t, s, "vsec_a.x", 1, sealed, canary)
			}
		})
	}
	for range 5 {
		if _, err := s.Rotate(t.Context()); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
}

// TestOutsideValuesAreATenantsOwn holds for any two tenants and names: what one has is
// never what the other reads.
func TestOutsideValuesAreATenantsOwn(t *testing.T) {
	name := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_.-]{0,6}`)
	tenant := rapid.StringMatching(`[A-Za-z0-9_-]{1,6}`)
	rapid.Check(t, func(t *rapid.T) {
		mine, theirs := tenant.Draw(t, "mine"), tenant.Draw(t, "theirs")
		n, m := name.Draw(t, "name"), name.Draw(t, "other name")
		s := New(Config{EnvPrefix: "V_"})
		if mine == theirs || s.CheckEnv(mine) != nil || s.CheckEnv(theirs) != nil {
			return
		}
		s.config.Environ = func() []string { return []string{s.variables(theirs) + variable(m) + "=" + canary} }
		if got, err := s.Env(mine, n); err == nil {
			t.Fatalf("%s/%s reads %q of %s/%s", mine, n, got, theirs, m)
		}
		if names, err := s.EnvNames(mine); err != nil || len(names) > 0 {
			t.Fatalf("%s lists %v of %s, %v", mine, names, theirs, err)
		}
	})
}

func TestEnvAndFiles(t *testing.T) {
	dir := t.TempDir()
	for path, content := range map[string]string{"acme/token": canary + "\n", "acme/empty": "", "beta/token": "theirs", "outside": "outside"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"up": "../beta/token", "out": "../outside", "far": "/etc/passwd"} {
		if err := os.Symlink(target, filepath.Join(dir, "acme", link)); err != nil {
			t.Fatal(err)
		}
	}
	s := New(Config{EnvPrefix: "V_", Files: dir, Environ: func() []string {
		return []string{"V_ACME__API_KEY=" + canary, "V_OTHER__API_KEY=theirs", "PATH=/bin", "V_ACME__EMPTY="}
	}})
	for _, name := range []string{"api-key", "API_KEY", "api.key"} {
		if got, err := s.Env("acme", name); err != nil || string(got) != canary {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if got, err := s.File("acme", "token"); err != nil || string(got) != canary {
		t.Errorf("the file is %q, %v", got, err)
	}
	for _, name := range []string{"PATH", "EMPTY", "none", ""} {
		if got, err := s.Env("acme", name); !errors.Is(err, ErrAbsent) {
			t.Errorf("the variable %s is %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"empty", "none", "up", "out", "far", "..", ".", "../beta/token", "/etc/passwd"} {
		if got, err := s.File("acme", name); err == nil {
			t.Errorf("the file %s is %q", name, got)
		}
	}
	for _, tenant := range []string{"", "..", ".", "a/b", "Acme", "a--b", "a_b", "-a"} {
		if err := errors.Join(s.CheckEnv(tenant), s.CheckFiles(tenant)); err == nil {
			t.Errorf("the tenant %q may have outside values", tenant)
		}
	}
	names, err := s.EnvNames("acme")
	if fmt.Sprint(names) != "[API_KEY EMPTY]" || err != nil {
		t.Errorf("variables %v, %v", names, err)
	}
	if names, err = s.FileNames("acme"); fmt.Sprint(names) != "[empty far out token up]" || err != nil {
		t.Errorf("files %v, %v", names, err)
	}
	if names, err = s.FileNames("gamma"); names != nil || err != nil {
		t.Errorf("files of a tenant without a folder: %v, %v", names, err)
	}
	off := New(Config{})
	if _, err := off.Env("acme", "api-key"); err == nil || !strings.Contains(err.Error(), "vaults.env") {
		t.Errorf("without the setting: %v", err)
	}
	if _, err := off.File("acme", "token"); err == nil || !strings.Contains(err.Error(), "vaults.files") {
		t.Errorf("without the setting: %v", err)
	}
}

func FuzzKey(f *testing.F) {
	f.Add("AGE-SECRET-KEY-1")
	f.Add("# comment\n\nage1abc")
	f.Add(canary)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parse(text); err != nil && len(text) > 20 && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats the key: %v", err)
		}
	})
}
