package files

import (
	"bytes"
	"io"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

// sniffed is how much of a file says what it is, when its name does not.
const sniffed = 512

const (
	mediaBytes = "application/octet-stream"
	mediaText  = "text/plain"
)

// byExtension has what the names of files say. It is the node's own, so that the same file is the
// same on every system.
var byExtension = map[string]string{
	".avif": "image/avif", ".bmp": "image/bmp", ".c": mediaText, ".cbor": "application/cbor", ".cc": mediaText, ".cfg": mediaText,
	".conf": mediaText, ".cpp": mediaText, ".css": "text/css", ".csv": "text/csv", ".diff": "text/x-diff",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".env": mediaText, ".gif": "image/gif",
	".go": "text/x-go", ".gz": "application/gzip", ".h": mediaText, ".htm": "text/html", ".html": "text/html", ".ico": "image/x-icon",
	".ini": mediaText, ".ipynb": "application/x-ipynb+json", ".java": "text/x-java", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
	".js": "text/javascript", ".json": "application/json", ".jsonl": "application/jsonl", ".jsx": "text/javascript", ".log": mediaText,
	".md": "text/markdown", ".mjs": "text/javascript", ".mp3": "audio/mpeg", ".mp4": "video/mp4", ".ndjson": "application/x-ndjson",
	".odt": "application/vnd.oasis.opendocument.text", ".ogg": "audio/ogg", ".parquet": "application/vnd.apache.parquet",
	".patch": "text/x-diff", ".pdf": "application/pdf", ".png": "image/png",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", ".py": "text/x-python", ".rb": "text/x-ruby",
	".rs": "text/x-rust", ".sh": "text/x-shellscript", ".sql": "application/sql", ".svg": "image/svg+xml", ".tar": "application/x-tar",
	".tex": "text/x-tex", ".toml": "application/toml", ".ts": "text/x-typescript", ".tsv": "text/tab-separated-values",
	".tsx": "text/x-typescript", ".txt": mediaText, ".wasm": "application/wasm", ".wav": "audio/wav", ".webm": "video/webm",
	".webp": "image/webp", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xml": "application/xml",
	".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip",
}

// byBeginning has what files begin with that say it themselves.
var byBeginning = []struct{ begins, media string }{
	{"%PDF-", "application/pdf"}, {"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"},
	{"PK\x03\x04", "application/zip"}, {"\x1f\x8b", "application/gzip"}, {"\x00asm", "application/wasm"},
}

// MediaOf says what a file seems to be: by its name, or else by how it begins.
func MediaOf(name string, begins func() []byte) string {
	if media := byExtension[strings.ToLower(path.Ext(name))]; media != "" {
		return media
	}
	head := begins()
	for _, known := range byBeginning {
		if strings.HasPrefix(string(head), known.begins) {
			return known.media
		}
	}
	if looksLikeText(head) {
		return mediaText
	}
	return mediaBytes
}

// looksLikeText reports whether what begins so is text, as far as one can tell: its last character
// may be cut.
func looksLikeText(head []byte) bool {
	for cut := 0; cut < utf8.UTFMax && cut <= len(head); cut++ {
		if isText(head[:len(head)-cut]) {
			return cut == 0 || len(head) == sniffed
		}
	}
	return false
}

// mediaAt says what the file at a path seems to be. A file that is not there any more is bytes.
func (p *place) mediaAt(name string) string {
	return MediaOf(name, func() []byte {
		f, _, err := p.file(name)
		if err != nil {
			return []byte{0}
		}
		defer f.Close()
		return headOf(f)
	})
}

// headOf returns how a file begins.
func headOf(f *os.File) []byte {
	head := make([]byte, sniffed)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return []byte{0} // nothing is known of it
	}
	return head[:n]
}

// beginning keeps how what is written to it begins.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	_, err := b.Buffer.Write(p[:min(len(p), sniffed-b.Len())])
	return len(p), err
}
