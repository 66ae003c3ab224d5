package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

// tenantName is what a tenant must be called so that no other's values can have the
// names of its own, in any case that a file system may confuse.
var tenantName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// CheckEnv returns why the tenant may have no Vault of environment variables, nil if
// it may.
func (s *Store) CheckEnv(tenant string) error {
	return s.check(s.config.EnvPrefix, "vaults.env", tenant)
}

// CheckFiles returns why the tenant may have no Vault of files, nil if it may.
func (s *Store) CheckFiles(tenant string) error {
	return s.check(s.config.Files, "vaults.files", tenant)
}

func (s *Store) check(setting, name, tenant string) error {
	switch {
	case setting == "":
		return fmt.Errorf("this node has no such vaults: the setting %s is empty", name)
	case !tenantName.MatchString(tenant):
		return errors.New("a tenant has such vaults only if its name is of a-z, 0-9 and single -")
	}
	return nil
}

// variables begins the names of a tenant's environment variables. Two underscores end
// it: a tenant's name yields none, and a secret's name begins with no underscore.
func (s *Store) variables(tenant string) string {
	return s.config.EnvPrefix + variable(tenant) + "__"
}

// variable writes a name as environment variables are written.
func variable(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}

// Env returns the value of the environment variable that stands for a tenant's secret:
// the prefix, the tenant's name, two underscores and the secret's name, in capitals and
// with _ for - and the dot. The error wraps ErrAbsent when it is not set, or empty.
func (s *Store) Env(tenant, name string) ([]byte, error) {
	if err := s.CheckEnv(tenant); err != nil {
		return nil, err
	}
	key := s.variables(tenant) + variable(name) + "="
	for _, entry := range s.config.Environ() {
		if value, ok := strings.CutPrefix(entry, key); ok {
			return checkValue([]byte(value))
		}
	}
	return nil, ErrAbsent
}

// EnvNames lists a tenant's secrets that are environment variables.
func (s *Store) EnvNames(tenant string) ([]string, error) {
	if err := s.CheckEnv(tenant); err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range s.config.Environ() {
		if rest, ok := strings.CutPrefix(entry, s.variables(tenant)); ok {
			name, _, _ := strings.Cut(rest, "=")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// File returns the content of the file that holds a tenant's secret, without a line
// break at its end: it lies in the folder of the tenant's name. Links do not lead out
// of that folder. The error wraps ErrAbsent when there is no such file.
func (s *Store) File(tenant, name string) ([]byte, error) {
	root, err := s.files(tenant)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, fmt.Errorf("opening the file of a secret: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errors.New("the file of the secret is no file"), err)
	}
	content, err := io.ReadAll(io.LimitReader(f, MaxValue+3))
	if err != nil {
		return nil, fmt.Errorf("reading the file of a secret: %w", err)
	}
	return checkValue(bytes.TrimSuffix(bytes.TrimSuffix(content, []byte("\n")), []byte("\r")))
}

// FileNames lists a tenant's secrets that are files.
func (s *Store) FileNames(tenant string) ([]string, error) {
	root, err := s.files(tenant)
	if errors.Is(err, ErrAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("listing the files of secrets: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (s *Store) files(tenant string) (*os.Root, error) {
	if err := s.CheckFiles(tenant); err != nil {
		return nil, err
	}
	all, err := os.OpenRoot(s.config.Files)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of secrets: %w", err)
	}
	defer all.Close()
	root, err := all.OpenRoot(tenant)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	return root, err
}

func checkValue(value []byte) ([]byte, error) {
	switch {
	case len(value) == 0:
		return nil, ErrAbsent
	case len(value) > MaxValue:
		return nil, fmt.Errorf("the value is longer than %d bytes", MaxValue)
	}
	return value, nil
}
