//go:build unix

package tool

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the process into a group of its own, so that what it starts can be
// reached too, and so that Ctrl-C on the node's terminal does not reach it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
