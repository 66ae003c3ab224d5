package node

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
)

// openFiles opens the folder of Workspaces' files, making it if need be.
func openFiles(data string) (*os.Root, error) {
	dir := filepath.Join(data, datadir.Workspaces)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of workspaces' files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of workspaces' files: %w", err)
	}
	return root, nil
}
