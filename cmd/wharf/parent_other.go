//go:build !linux

package main

import "os/exec"

// dieWithParent has a process end when this one does, where the system can do that.
func dieWithParent(*exec.Cmd) {}
