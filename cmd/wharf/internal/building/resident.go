package building

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/go-json-experiment/json"
)

// Resident is a compiler that stays between builds, so that one need not wait until it has begun and its code
// is fast. It is for one build at a time. The zero value has none yet.
type Resident struct {
	of     string // the compiler that runs, "" when none does
	cmd    *exec.Cmd
	asks   io.WriteCloser
	answer *bufio.Reader
}

// stayingCompiler compiles with AssemblyScript's compiler as often as it is asked: a line of arguments, a line of
// what was said. What a transform prints is said, too.
const stayingCompiler = `import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
const answer = process.stdout.write.bind(process.stdout);
let said = "";
const stream = { write(chunk) { said += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk); return true; } };
process.stdout.write = process.stderr.write = stream.write;
const asc = await import(pathToFileURL(process.argv[1]));
for await (const line of createInterface({ input: process.stdin })) {
  said = "";
  const { error } = await asc.main(JSON.parse(line), { stdout: stream, stderr: stream });
  answer(JSON.stringify({ failed: Boolean(error), said: said || String(error?.message ?? "") }) + "\n");
}`

// compiled is what came of it.
type compiled struct {
	Failed bool   `json:"failed"`
	Said   string `json:"said"`
}

// errNoCompiler is the error of a compiler that does not stay: it has to be run by itself.
var errNoCompiler = errors.New("the compiler did not answer")

// compile has a compiler compile in a folder. After an error other than that of ctx the next one begins anew.
func (r *Resident) compile(ctx context.Context, compiler, folder string, arguments []string) (c compiled, err error) {
	if of := folder + "\x00" + compiler; of != r.of {
		r.Close()
		if err := r.begin(compiler, folder); err != nil {
			return c, err
		}
		r.of = of
	}
	line, err := json.Marshal(arguments)
	if err != nil {
		return c, fmt.Errorf("writing the compiler's arguments: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = r.cmd.Process.Kill() })
	defer stop()
	_, err = r.asks.Write(append(line, '\n'))
	if err == nil {
		line, err = r.answer.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &c)
	}
	if err == nil {
		return c, nil
	}
	r.Close()
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	return c, errNoCompiler
}

func (r *Resident) begin(compiler, folder string) (err error) {
	r.cmd = exec.Command("node", "--enable-source-maps", "--input-type=module", "--eval", stayingCompiler, compiler)
	r.cmd.Dir = folder
	if r.asks, err = r.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("starting the compiler: %w", err)
	}
	answer, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("starting the compiler: %w", err)
	}
	r.answer = bufio.NewReader(answer)
	return nil
}

// Close ends the compiler.
func (r *Resident) Close() {
	if r.of == "" {
		return
	}
	r.of = ""
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // killed
}
