//go:build !unix

package program

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}

func signalOf(*os.ProcessState) string { return "" }
