// Package confine puts a process under a memory limit of the kernel, as a container does.
package confine
