package sdk

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/wharf-dev/wharf/abi/internal/reference"
)

// TestSDKsAreCurrent holds that what authors compile is what the definitions say.
func TestSDKsAreCurrent(t *testing.T) {
	source, err := reference.Read(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	sdks := filepath.Join("..", "..", "..", "sdk")
	parts, err := ReadParts(sdks)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range Files(Read(source), parts) {
		got, err := os.ReadFile(filepath.Join(sdks, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("sdk/%s is not what go generate ./abi writes (%v)", name, err)
		}
	}
}
