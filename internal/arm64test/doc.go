// Package arm64test lets tests run programs for arm64 on other processors, under an
// emulator.
package arm64test
