package receipt

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func openKeyring(t *testing.T, dir string) *Keyring {
	t.Helper()
	k, err := OpenKeyring(dir, "wharf", start)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeyringIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	first := openKeyring(t, dir)
	again := openKeyring(t, dir)
	if first.Current().ID != again.Current().ID || first.Current().Sign("x") != again.Current().Sign("x") {
		t.Error("another key after opening again")
	}
	if p := again.Public(); p.Issuer != "wharf" || len(p.Keys) != 1 || p.Keys[0].KeyID != first.Current().ID || !p.Keys[0].CreatedAt.Equal(start) {
		t.Errorf("public keys %+v", p)
	}
	if other := openKeyring(t, t.TempDir()); other.Current().ID == first.Current().ID {
		t.Error("two keyrings have the same key")
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	k := openKeyring(t, dir)
	var retired []*Key
	for n := range 3 {
		retired = append(retired, k.Current())
		if err := k.Rotate(start.Add(time.Duration(n+1) * time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	again := openKeyring(t, dir)
	public := again.Public().Keys
	if len(public) != 4 || public[0].KeyID != again.Current().ID || !public[0].RetiredAt.IsZero() {
		t.Fatalf("public keys %+v", public)
	}
	for n, key := range retired {
		p := public[3-n]
		if p.KeyID != key.ID || !p.RetiredAt.Equal(start.Add(time.Duration(n+1)*time.Hour)) {
			t.Errorf("retired key %d is published as %+v", n, p)
		}
	}
	r := build(t, facts(), tallyOf(t, agentRun()))
	Seal(r, "", retired[0], r.IssuedAt)
	if report := Verify(r.AppendCanonical(nil), Trust{Keys: public}); !report.Valid {
		t.Errorf("what a retired key signed in its time: %s", report.Reason())
	}
	for _, file := range files(t, dir) {
		for _, key := range retired {
			if seed := base64.StdEncoding.EncodeToString(key.private.Seed()); bytes.Contains(file, []byte(seed)) {
				t.Error("the private half of a retired key is still there")
			}
		}
	}
}

func files(t *testing.T, dir string) (contents [][]byte) {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 1 {
		t.Errorf("the folder holds %v", names)
	}
	for _, n := range names {
		contents = append(contents, readFile(t, dir, n.Name()))
	}
	return contents
}

func TestOnlyTheOwnerReadsKeys(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	dir := filepath.Join(t.TempDir(), "keys")
	openKeyring(t, dir)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, keyFile): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, keyFile), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKeyring(dir, "wharf", start); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that all can read: %v", err)
	}
}

// TestDamagedKeyring holds that no damage goes unnoticed, and none is "repaired"
// by a new key.
func TestDamagedKeyring(t *testing.T) {
	dir := t.TempDir()
	openKeyring(t, dir)
	path := filepath.Join(dir, keyFile)
	good := readFile(t, path)
	for name, content := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)/2], "another format": bytes.Replace(good, []byte(keyFormat), []byte("wharf-signing-keys-9"), 1),
		"another seed": bytes.Replace(good, []byte(base64.StdEncoding.EncodeToString(openKeyring(t, dir).current.private.Seed())), []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 1),
		"no keys":      []byte(`{"format":"` + keyFormat + `","seed":"","keys":[]}`),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenKeyring(dir, "wharf", start); err == nil || !strings.Contains(err.Error(), "backup") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
