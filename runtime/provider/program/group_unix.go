//go:build unix

package program

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the program into a group of its own, with which it is killed.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
