package ceiling

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
)

// Command is the first argument that turns this program into a ceiling.
const Command = "ceiling"

// Main runs a ceiling: "accept DIR", "deliver DIR SECRET", "echo", or "write" with flags. It ends when
// in does.
func Main(args []string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	begin := make(chan struct{})
	go obey(in, begin, cancel)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Fprintf(out, "%s%s\n", ready, ln.Addr())
	switch {
	case len(args) == 2 && args[0] == "accept":
		return Accept(ctx, ln, args[1])
	case len(args) == 3 && args[0] == "deliver":
		return Deliver(ctx, ln, args[1], args[2])
	case len(args) == 1 && args[0] == "echo":
		return Echo(ctx, ln)
	case len(args) > 0 && args[0] == "write":
		return writeMain(ctx, ln, args[1:], begin)
	}
	return fmt.Errorf("%q is no ceiling", args)
}

// obey closes begin at the first line of in and calls end at its end.
func obey(in io.Reader, begin chan<- struct{}, end func()) {
	defer end()
	lines := bufio.NewScanner(in)
	if lines.Scan() {
		close(begin)
	}
	for lines.Scan() {
		continue
	}
}

func writeMain(ctx context.Context, ln net.Listener, args []string, begin <-chan struct{}) error {
	flags := flag.NewFlagSet("write", flag.ContinueOnError)
	readers := flags.Int("readers", 1, "connections to wait for")
	file := flags.String("frames", "", "file that holds the frames of the stream")
	size := flags.Int("write", 0, "bytes to gather for one write; 0: one write a frame")
	if err := flags.Parse(args); err != nil {
		return err
	}
	stream, err := os.ReadFile(*file)
	if err != nil {
		return fmt.Errorf("reading the frames: %w", err)
	}
	return Write(ctx, ln, *readers, pieces(stream, *size), begin)
}

// pieces cuts a stream between its frames, into pieces of at least size bytes,
// and frames each as a chunk.
func pieces(stream []byte, size int) [][]byte {
	var out [][]byte
	for len(stream) > 0 {
		n := FrameEnd(stream, 0)
		for n < size && n < len(stream) {
			n = FrameEnd(stream, n)
		}
		out = append(out, Chunk(stream[:n]))
		stream = stream[n:]
	}
	return out
}

// FrameEnd returns where the frame that begins at from ends.
func FrameEnd(stream []byte, from int) int {
	i := bytes.Index(stream[from:], []byte("\n\n"))
	if i < 0 {
		return len(stream)
	}
	return from + i + len("\n\n")
}
