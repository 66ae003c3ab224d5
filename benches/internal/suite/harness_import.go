package suite

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"crypto/rand"
	"fmt"
	"hash/crc32"
	"mime/multipart"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/model"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	bundleFiles = 2_000
	bundleBytes = 50_000_000
	bombBytes   = 10_000_000_000
	bombFiles   = 2_500

	goalImport       = 2_000 // ms
	goalImportMemory = 64    // MiB
	goalBomb         = 100   // ms
	goalBombMemory   = 16    // MiB
	mebibyte         = 1 << 20
)

// bundleAgent is the AGENTS.md of every bundle.
const bundleAgent = `---
name: Loader
vendorKey: bench
agentKey: loader
version: 1.0.0
slug: bench/loader
description: Reads what the depots send and says what is late, with everything that it needs to know beside it.
author: "@bench"
license: MIT
tags: [bench]
---
Say what is late.
`

// taken is what a request has cost the node.
type taken struct{ millis, memory, cpu float64 }

// measureHarnessImport measures importing an agent with many files, which nothing compresses, and
// refusing archives of some 10 MB that unpack to 10 GB. Memory is the most that the node had
// meanwhile beyond what it had when it was idle.
func measureHarnessImport(ctx context.Context, s *Suite) ([]report.Row, error) {
	bundle, err := bigBundle()
	if err != nil {
		return nil, err
	}
	bombs, err := allBombs()
	if err != nil {
		return nil, err
	}
	var imported, refused []taken
	worst := map[string]float64{}
	for round := range min(s.Rounds, memoryRounds) {
		one, err := s.onIdle(ctx, func(n *node.Node) (taken, error) { return importing(n, bundle, 201) })
		if err != nil {
			return nil, err
		}
		imported = append(imported, one)
		var most taken
		for _, b := range bombs {
			one, err := s.onIdle(ctx, func(n *node.Node) (taken, error) { return importing(n, b.form, 422) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.what, err)
			}
			most = taken{max(most.millis, one.millis), max(most.memory, one.memory), max(most.cpu, one.cpu)}
			worst[b.what] = max(worst[b.what], one.millis)
		}
		refused = append(refused, most)
		s.say("  round %d: imported in %.0f ms with %.1f MiB, bombs refused in %.0f ms with %.1f MiB", round+1,
			imported[round].millis, imported[round].memory, most.millis, most.memory)
	}
	var kinds []string
	for _, b := range bombs {
		kinds = append(kinds, fmt.Sprintf("%s: %.0f ms", b.what, worst[b.what]))
	}
	millis, memory, cpu := figures(imported)
	bombMillis, bombMemory, bombCPU := figures(refused)
	return []report.Row{
		report.Row{What: fmt.Sprintf("agent of %d files and %d MB imported", bundleFiles, bundleBytes/1_000_000), Wharf: millis,
			Note: fmt.Sprintf("processor time of the node: %.0f ms", report.Median(cpu))}.Must(report.AtMost, goalImport),
		report.Row{What: "memory for that, beyond idle", Wharf: memory, Difference: true}.Must(report.AtMost, goalImportMemory),
		report.Row{What: fmt.Sprintf("bomb of 10 GB refused, the slowest of %d", len(bombs)), Wharf: bombMillis,
			Note: fmt.Sprintf("at most: %s; processor time of the node: %.0f ms", strings.Join(kinds, "; "), report.Median(bombCPU))}.Must(report.AtMost, goalBomb),
		report.Row{What: "memory for that, beyond idle", Wharf: bombMemory, Difference: true}.Must(report.AtMost, goalBombMemory),
	}, nil
}

// figures are what several requests have cost, the processor time in ms.
func figures(all []taken) (took, memory report.Figure, cpu []float64) {
	var ms, mib []float64
	for _, t := range all {
		ms, mib, cpu = append(ms, t.millis), append(mib, t.memory), append(cpu, t.cpu)
	}
	return report.NewFigure("ms", ms), report.NewFigure("MiB", mib), cpu
}

// onIdle asks something of a fresh node that was left alone. It has a model, as nodes have on which
// agents run: so the agent's module is there already, which else is read by the first import.
func (s *Suite) onIdle(ctx context.Context, ask func(*node.Node) (taken, error)) (taken, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return taken{}, err
	}
	defer remove()
	provider := model.New()
	defer provider.Close()
	config, err := provider.WriteConfig(dir)
	if err != nil {
		return taken{}, err
	}
	n, err := s.startWith(ctx, dir, []string{"--config", config}, nil)
	if err != nil {
		return taken{}, err
	}
	defer n.Kill()
	if err := calm(ctx, n); err != nil {
		return taken{}, err
	}
	if _, err := settled(ctx, n); err != nil {
		return taken{}, err
	}
	got, err := ask(n)
	if err != nil {
		return taken{}, withOutput(err, n)
	}
	return got, nil
}

// form is a multipart form.
type form struct {
	media string
	body  []byte
}

func formOf(archive []byte) (form, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("bundle", "loader.zip")
	if err != nil {
		return form{}, err
	}
	if _, err := part.Write(archive); err != nil {
		return form{}, err
	}
	err = w.Close()
	return form{w.FormDataContentType(), b.Bytes()}, err
}

// importing sends a bundle, and requires an answer with the given status.
func importing(n *node.Node, f form, want int) (taken, error) {
	idle, err := n.RSS()
	if err != nil {
		return taken{}, err
	}
	if err := n.ResetPeak(); err != nil {
		return taken{}, err
	}
	before, err := n.CPU()
	if err != nil {
		return taken{}, err
	}
	start := time.Now()
	status, answer, err := n.Upload(harnessPath+"/agents/import", f.media, f.body)
	took := time.Since(start)
	if err != nil {
		return taken{}, err
	}
	if status != want {
		return taken{}, fmt.Errorf("a bundle was answered with %d: %.300s", status, answer)
	}
	after, err := n.CPU()
	if err != nil {
		return taken{}, err
	}
	peak, err := n.Peak()
	return taken{millis(took), float64(peak-idle) / mebibyte, millis(after - before)}, err
}

// bigBundle is an agent with many files of random bytes.
func bigBundle() (form, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := addFile(z, "AGENTS.md", []byte(bundleAgent)); err != nil {
		return form{}, err
	}
	content := make([]byte, bundleBytes/bundleFiles)
	for i := range bundleFiles {
		if _, err := rand.Read(content); err != nil {
			return form{}, err
		}
		if err := addFile(z, fmt.Sprintf("docs/%d/%d.bin", i%50, i), content); err != nil {
			return form{}, err
		}
	}
	if err := z.Close(); err != nil {
		return form{}, err
	}
	return formOf(b.Bytes())
}

func addFile(z *zip.Writer, name string, content []byte) error {
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

// bomb is an archive that unpacks to far more than it has.
type bomb struct {
	what string
	form form
}

// allBombs makes bombs that say how large they are, and such that say something else.
func allBombs() ([]bomb, error) {
	var all []bomb
	for _, kind := range []struct {
		what  string
		files int
		says  uint64 // of each file; 0 for the truth
	}{
		{"one file", 1, 0}, {"one file that says it is small", 1, 20_000},
		{"many files", bombFiles, 0}, {"many files that say they are small", bombFiles, 20_000},
	} {
		archive, err := bombOf(kind.files, kind.says)
		if err != nil {
			return nil, err
		}
		f, err := formOf(archive)
		if err != nil {
			return nil, err
		}
		all = append(all, bomb{kind.what, f})
	}
	return all, nil
}

func bombOf(files int, says uint64) ([]byte, error) {
	size := uint64(bombBytes / files)
	packed, sum, err := zeros(size)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := addFile(z, "AGENTS.md", []byte(bundleAgent)); err != nil {
		return nil, err
	}
	for i := range files {
		header := &zip.FileHeader{Name: fmt.Sprintf("docs/%d.bin", i), Method: zip.Deflate, CRC32: sum, CompressedSize64: uint64(len(packed)), UncompressedSize64: size}
		if says != 0 {
			header.UncompressedSize64 = says
		}
		w, err := z.CreateRaw(header)
		if err == nil {
			_, err = w.Write(packed)
		}
		if err != nil {
			return nil, err
		}
	}
	err = z.Close()
	return b.Bytes(), err
}

// zeros packs so many bytes of nothing. All pieces but the first are packed once: what comes before
// each is the same.
func zeros(size uint64) (packed []byte, sum uint32, err error) {
	const piece = 1_000_000
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil, 0, err
	}
	nothing := make([]byte, piece)
	for range 2 {
		packed = append(packed, b.Bytes()...) // the first, which has nothing before it
		b.Reset()
		if _, err := w.Write(nothing); err != nil {
			return nil, 0, err
		}
		if err := w.Flush(); err != nil {
			return nil, 0, err
		}
	}
	for i := range size / piece {
		if i > 0 {
			packed = append(packed, b.Bytes()...)
		}
		sum = crc32.Update(sum, crc32.IEEETable, nothing)
	}
	b.Reset()
	if err := w.Close(); err != nil { // the end, with nothing before it
		return nil, 0, err
	}
	return append(packed, b.Bytes()...), sum, nil
}
