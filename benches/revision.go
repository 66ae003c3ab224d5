package main

import (
	"context"
	"os/exec"
	"strings"
)

// revision names the commit that is measured, "" if that cannot be told.
func revision(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return "revision " + strings.TrimSpace(string(out))
}
