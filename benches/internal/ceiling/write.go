package ceiling

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
)

// streamHeader opens a stream the way the node does.
const streamHeader = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// Chunk frames data as one chunk of a chunked HTTP body.
func Chunk(data []byte) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(data), data) }

// Write serves readers on ln: each connection's request is answered with the
// header of a stream and, once start is closed, with every piece, one write
// each, from a goroutine of its own. It returns when all readers are served or
// ctx ends.
func Write(ctx context.Context, ln net.Listener, readers int, pieces [][]byte, start <-chan struct{}) error {
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	var wg sync.WaitGroup
	errs := make([]error, readers)
	for i := range readers {
		conn, err := ln.Accept()
		if err != nil {
			return fmt.Errorf("waiting for a reader: %w", err)
		}
		wg.Go(func() { errs[i] = writeStream(ctx, conn, pieces, start) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func writeStream(ctx context.Context, conn net.Conn, pieces [][]byte, start <-chan struct{}) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := readHead(conn); err != nil {
		return err
	}
	if _, err := conn.Write([]byte(streamHeader)); err != nil {
		return fmt.Errorf("opening a stream: %w", err)
	}
	select {
	case <-start:
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, piece := range pieces {
		if _, err := conn.Write(piece); err != nil {
			return fmt.Errorf("writing to a reader: %w", err)
		}
	}
	return nil
}

// readHead reads a request without body up to its empty line.
func readHead(conn net.Conn) error {
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("reading a reader's request: %w", err)
		}
		if len(line) <= len("\r\n") {
			return nil
		}
	}
}
