package suite

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash/crc32"
	"io"
	"testing"
)

func TestBombsUnpack(t *testing.T) {
	const size = 3_000_000
	packed, sum, err := zeros(size)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil || len(got) != size || crc32.ChecksumIEEE(got) != sum || len(bytes.Trim(got, "\x00")) != 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	archive, err := bombOf(bombFiles, 0)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil || len(z.File) != bombFiles+1 {
		t.Fatal(err)
	}
	f, err := z.File[bombFiles].Open()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, f); err != nil || n != bombBytes/bombFiles {
		t.Errorf("a file unpacks to %d bytes, %v", n, err)
	}
}
