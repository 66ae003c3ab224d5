package restate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/proc"
)

const (
	// startLimit is how long the server may take until it has done its first steps.
	startLimit = 60 * time.Second
	pollEvery  = 20 * time.Millisecond
	askLimit   = 5 * time.Second
	ready      = "ready "
	// path is where the service's handler is reached.
	path = "/steps/run"
)

// Server is a running server with its service.
type Server struct {
	Addr string // where requests are sent

	admin           string
	server, service *exec.Cmd
	serviceInput    io.Closer
	log             string
}

// Path is where Tasks of steps are submitted, with [Body].
func (s *Server) Path() string { return path }

// Body asks for a number of steps whose results have the given size.
func Body(steps, bytes int) []byte { return fmt.Appendf(nil, `{"steps":%d,"bytes":%d}`, steps, bytes) }

// Done reports whether an answer says that the steps were made.
func Done(status int, body []byte) bool {
	return status == fasthttp.StatusOK && strings.Contains(string(body), `"status":"COMPLETED"`)
}

// settings are all that differs from a server without any: where it listens and
// keeps its data, and that it is quiet. Each step is synced, as by default.
const settings = `base-dir = %q
listen-mode = "tcp"
bind-address = %q
advertised-address = "http://%[2]s/"
disable-telemetry = true
log-filter = "warn"
[ingress]
bind-address = %q
[admin]
bind-address = %q
disable-web-ui = true
`

// Start runs the server on an empty folder, and the service, and returns when the
// service has answered through the server. Both are killed when ctx ends.
func Start(ctx context.Context, in *Install, dir string) (*Server, error) {
	s := &Server{log: filepath.Join(dir, "server.log")}
	config, err := s.configure(dir)
	if err != nil {
		return nil, err
	}
	if err := synced(ctx, in, config); err != nil {
		return nil, err
	}
	if err := s.run(ctx, in, config); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) configure(dir string) (file string, err error) {
	var addrs [3]string
	for i := range addrs {
		if addrs[i], err = node.FreeAddr(); err != nil {
			return "", err
		}
	}
	s.Addr, s.admin = addrs[1], addrs[2]
	file = filepath.Join(dir, "restate.toml")
	text := fmt.Sprintf(settings, filepath.Join(dir, "data"), addrs[0], s.Addr, s.admin)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("writing Restate's configuration: %w", err)
	}
	return file, nil
}

// synced requires that the server, by its own account, syncs what it writes.
func synced(ctx context.Context, in *Install, config string) error {
	out, err := exec.CommandContext(ctx, in.Binary, "--config-file", config, "--dump-config").Output()
	if err != nil {
		return fmt.Errorf("asking Restate for its configuration: %w", err)
	}
	text := string(out)
	if !strings.Contains(text, "rocksdb-disable-wal-fsync = false") || strings.Contains(text, "rocksdb-disable-wal-fsync = true") {
		return errors.New("restate does not sync its log by default: the comparison would not be a fair one")
	}
	return nil
}

func (s *Server) run(ctx context.Context, in *Install, config string) error {
	service, err := s.startService(ctx, in)
	if err != nil {
		return err
	}
	if err := s.startServer(ctx, in, config); err != nil {
		return err
	}
	deployment := fmt.Appendf(nil, `{"uri":"http://%s"}`, service)
	if err := s.until(ctx, "http://"+s.admin+"/deployments", deployment, func(status int, _ []byte) bool { return status/100 == 2 }); err != nil {
		return fmt.Errorf("registering the service with Restate: %w", err)
	}
	if err := s.until(ctx, "http://"+s.Addr+path, Body(1, 1), Done); err != nil {
		return fmt.Errorf("waiting for Restate's first steps: %w", err)
	}
	return nil
}

// startService runs the service and returns where it listens.
func (s *Server) startService(ctx context.Context, in *Install) (addr string, err error) {
	cmd := exec.CommandContext(ctx, in.Node, "service.js")
	cmd.Dir, cmd.Env = in.Folder, append(os.Environ(), "RESTATE_LOGGING=ERROR", "NODE_ENV=production")
	input, err := cmd.StdinPipe()
	if err != nil {
		return "", fmt.Errorf("connecting to Restate's service: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("connecting to Restate's service: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("starting Restate's service: %w", err)
	}
	s.service, s.serviceInput = cmd, input
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if addr, ok := strings.CutPrefix(lines.Text(), ready); ok {
			go io.Copy(io.Discard, out)
			return addr, nil
		}
	}
	return "", errors.New("restate's service ended before it listened")
}

func (s *Server) startServer(ctx context.Context, in *Install, config string) error {
	log, err := os.Create(s.log)
	if err != nil {
		return fmt.Errorf("making Restate's log: %w", err)
	}
	defer log.Close() // the process has its own handle
	cmd := exec.CommandContext(ctx, in.Binary, "--config-file", config, "--no-logo")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting Restate: %w", err)
	}
	s.server = cmd
	return nil
}

// until sends a request until its answer is as wanted.
func (s *Server) until(ctx context.Context, url string, body []byte, wanted func(int, []byte) bool) error {
	var last string
	for start := time.Now(); time.Since(start) < startLimit; {
		status, answer, err := post(url, body)
		if err == nil && wanted(status, answer) {
			return nil
		}
		last = fmt.Sprintf("%d %.300s %v", status, answer, err)
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("not within %s: %s; the end of its log:\n%s", startLimit, last, s.said())
}

func post(url string, body []byte) (int, []byte, error) {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.Header.SetMethod(fasthttp.MethodPost)
	req.SetRequestURI(url)
	req.Header.SetContentType("application/json")
	req.SetBodyRaw(body)
	if err := fasthttp.DoTimeout(req, resp, askLimit); err != nil {
		return 0, nil, err
	}
	return resp.StatusCode(), append([]byte(nil), resp.Body()...), nil
}

// said returns the end of what the server has logged.
func (s *Server) said() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// CPU returns the processor time that the server has used, without its service.
func (s *Server) CPU() (time.Duration, error) { return proc.CPU(s.server.Process.Pid) }

// ServiceCPU returns the processor time that the service has used.
func (s *Server) ServiceCPU() (time.Duration, error) { return proc.CPU(s.service.Process.Pid) }

// Stop ends both processes.
func (s *Server) Stop() {
	if s.server != nil {
		s.server.Process.Kill()
		s.server.Wait()
	}
	if s.service != nil {
		s.serviceInput.Close()
		s.service.Process.Kill()
		s.service.Wait()
	}
}
