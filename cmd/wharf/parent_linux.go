package main

import (
	"os/exec"
	"syscall"
)

// dieWithParent has a process end when this one does, however that ends.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
