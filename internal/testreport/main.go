package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

func main() {
	report := newReport()
	for _, name := range os.Args[1:] {
		if err := readFile(report, name); err != nil {
			fmt.Fprintln(os.Stderr, "testreport:", err)
			os.Exit(1)
		}
	}
	out := bufio.NewWriter(os.Stdout)
	ok := report.write(out)
	if err := out.Flush(); err != nil || !ok {
		os.Exit(1)
	}
}

func readFile(r *report, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("opening a test log: %w", err)
	}
	defer f.Close()
	if err := r.read(f); err != nil && err != io.EOF {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}
