//go:build !unix

package tool

import "os/exec"

func ownGroup(*exec.Cmd) {}

// terminate does nothing: the process was told by the end of its input.
func terminate(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
