package node

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// ProfileArgs makes a node serve profiles of itself on addr.
func ProfileArgs(addr string) []string { return []string{"--debug-listen", addr} }

// FetchProfile saves a profile of a node to a file. kind is a name that
// net/http/pprof knows; took bounds a profile that is taken over time.
func FetchProfile(ctx context.Context, addr, kind string, took time.Duration, file string) error {
	url := "http://" + addr + "/debug/pprof/" + kind
	if took > 0 {
		url += fmt.Sprintf("?seconds=%d", max(1, int(took.Seconds())))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking for a profile: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("fetching a profile: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("fetching a profile was answered with %d", resp.StatusCode)
	}
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("saving a profile: %w", err)
	}
	if _, err := io.Copy(out, resp.Body); err != nil {
		out.Close()
		return fmt.Errorf("saving a profile: %w", err)
	}
	return out.Close()
}
