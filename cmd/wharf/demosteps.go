package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/plugins/bills"
	"github.com/wharf-dev/wharf/runtime/bundle"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// story is what the demo shows on a node of its own.
func (d *demo) story() []demoStep {
	return []demoStep{
		{"start", "a node starts", d.startNode},
		{"document", "a document goes in: the first time, plugins are compiled for it", d.sendDocument},
		{"ask", "an agent wants to pay a bill, and has to ask", d.askToPay},
		{"approve", "the demo plays the person who is asked, and says yes", d.approve},
		{"kill", "the node is killed in the middle of it", d.killNode},
		{"resume", "the node starts again, and the agent goes on", d.resume},
		{"replay", "the run is played again from its record", d.replayRun},
		{"prove", "the node is off, and the record of the run is checked", d.proveOffline},
	}
}

// visit is what it shows on a node that is somebody's: nothing there is killed or changed.
func (d *demo) visit() []demoStep {
	return []demoStep{
		{"document", "the document is on its way", d.sendDocument},
		{"replay", "the run is played again from its record", d.replayDocument},
		{"prove", "the record of the run is checked here", d.proveHere},
	}
}

func (d *demo) startNode(ctx context.Context) (string, error) {
	var err error
	if d.bank, err = openDemoBank(ctx); err != nil {
		return "", err
	}
	if d.node, err = newDemoNode(d.dir, d.bank.url); err != nil {
		return "", err
	}
	if err := d.node.start(ctx); err != nil {
		return "", err
	}
	d.client = d.node.client
	return "A node starts, with an empty folder for its data", nil
}

// wait returns when a Task has ended. One that did not do well is an error.
func (d *demo) wait(ctx context.Context, id string) error {
	if _, err := d.follow(ctx, d.client, id, followOptions{quiet: true}); err != nil {
		return err
	}
	task, err := d.client.Task(ctx, id)
	if err != nil {
		return err
	}
	if f := task.Value.Failure; f != nil {
		return fmt.Errorf("the task %s ended with %s: %w", id, task.Value.Status, f)
	}
	if task.Value.Status != abi.TaskCompleted {
		return fmt.Errorf("the task %s is %s", id, task.Value.Status)
	}
	return nil
}

// submit gives work to a Persona.
func (d *demo) submit(ctx context.Context, persona string, input jsontext.Value) error {
	task, err := d.client.Submit(ctx, abi.SubmitTaskRequest{Input: input, SessionID: d.session, PersonaID: persona}, client.SubmitOptions{})
	d.task = task.Value.ID
	return err
}

func (d *demo) sendDocument(ctx context.Context) (string, error) {
	session, err := newSession(ctx, d.client, abi.CreateSessionRequest{}, "")
	if err != nil {
		return "", err
	}
	d.session = session.Value.ID
	info, err := os.Stat(d.document())
	if err != nil {
		return "", fmt.Errorf("reading the document: %w", err)
	}
	input, err := buildInput(ctx, d.client, submission{file: d.document()}, d.session)
	if err != nil {
		return "", err
	}
	if err := d.submit(ctx, d.persona, input); err != nil {
		return "", hint(err, abi.CodeResourceNotFound, "--persona persona_digest or persona_echo")
	}
	if err := d.wait(ctx, d.task); err != nil {
		return "", err
	}
	came := "an answer"
	if d.persona == plugins.PersonaDigest {
		came = "its outline"
	}
	name := show.Cut(show.OneLine(filepath.Base(d.document())), 28)
	return fmt.Sprintf("%s (%s) goes in, and %s comes back", name, show.Bytes(info.Size()), came), nil
}

// askToPay gives work to an agent that may act with approval only, and returns when it waits for that.
func (d *demo) askToPay(ctx context.Context) (string, error) {
	description := "Pays bills, each when a person has agreed."
	persona, err := client.Do[abi.Persona](ctx, d.client, client.Post(abi.CreatePersonaRequest{
		Name: bills.Name, Version: "1", EntryWorkflow: bills.Name, Description: &description,
		AutonomyTier: abi.TierActWithApproval, ReceiptPolicy: abi.ReceiptRequired,
	}, "/v1/personas"))
	if err != nil {
		return "", err
	}
	input, err := json.Marshal(bills.Input{Bank: d.bank.url})
	if err != nil {
		return "", fmt.Errorf("encoding the input: %w", err)
	}
	if err := d.submit(ctx, persona.Value.ID, input); err != nil {
		return "", err
	}
	if err := d.watch(ctx, abi.EventTaskInputRequired); err != nil {
		return "", err
	}
	open, err := client.List[abi.PermissionRequest](ctx, d.client, client.Get("/v1/tasks/{}/permission-requests", d.task))
	if err != nil {
		return "", err
	}
	if len(open) != 1 {
		return "", fmt.Errorf("the task %s asks %d times before it pays", d.task, len(open))
	}
	d.request = open[0].Value.ID
	return "An agent wants to pay a bill. The node holds it and asks a person", nil
}

// watch returns at the next event of a kind. The Task must not end before.
func (d *demo) watch(ctx context.Context, kind abi.EventKind) error {
	stream := client.TaskStream(d.task)
	stream.After = d.seen
	for e, err := range d.client.Follow(ctx, stream) {
		if err != nil {
			return err
		}
		d.seen = e.Value.ID
		if e.Value.Event == kind {
			return nil
		}
		if end := endOf(&e.Value, d.task); end != "" {
			break
		}
	}
	return fmt.Errorf("the task %s ended before it came to %s", d.task, kind)
}

// approve says yes, and returns when the agent has paid and asks the bank for the receipt.
func (d *demo) approve(ctx context.Context) (string, error) {
	if _, err := client.Do[abi.PermissionRequest](ctx, d.client, client.Post(abi.RespondRequest{Decision: "approved", Reason: "it is due"}, inbox+"/{}/respond", d.request)); err != nil {
		return "", err
	}
	if err := d.watch(ctx, abi.EventAgentMessage); err != nil {
		return "", err
	}
	select {
	case <-d.bank.asked:
		return "The demo plays the person, and says yes: the bill is paid", nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (d *demo) killNode(context.Context) (string, error) {
	d.node.kill()
	return "The node is killed (kill -9) while the agent waits for the receipt", nil
}

// resume starts the node again, and returns when the agent has the receipt.
func (d *demo) resume(ctx context.Context) (string, error) {
	d.bank.release()
	if err := d.node.start(ctx); err != nil {
		return "", err
	}
	ctx, stop := d.node.while(ctx)
	defer stop()
	d.client = d.node.client
	if err := d.wait(ctx, d.task); err != nil {
		return "", err
	}
	if paid, _ := d.bank.payments(); paid != 1 {
		return "", errPaidTwice
	}
	return "Started again, the agent goes on where it was. It has paid once", nil
}

// replayRun has the node play the run again, of which the bank must hear nothing.
func (d *demo) replayRun(ctx context.Context) (string, error) {
	_, before := d.bank.payments()
	if err := d.playAgain(ctx); err != nil {
		return "", err
	}
	if _, after := d.bank.payments(); after != before {
		return "", errors.New("the bank has heard of the replay")
	}
	return "Played again from its record, the run is the same, to the last bit", nil
}

func (d *demo) replayDocument(ctx context.Context) (string, error) {
	return "Played again from its record, the run is the same, to the last bit", d.playAgain(ctx)
}

// playAgain replays the Task. A replay that differs fails.
func (d *demo) playAgain(ctx context.Context) error {
	again, err := client.Do[abi.Task](ctx, d.client, client.Post(abi.ReplayTaskRequest{}, "/v1/tasks/{}/replay", d.task))
	if err != nil {
		return err
	}
	return d.wait(ctx, again.Value.ID)
}

// proveOffline fetches the record of the run and the node's keys, stops the node, and checks the one with the other.
func (d *demo) proveOffline(ctx context.Context) (string, error) {
	if err := d.fetch(ctx); err != nil {
		return "", err
	}
	if err := d.node.stop(ctx); err != nil {
		return "", err
	}
	return "The node is off: its signed record of the run proves itself", d.verifyRun(ctx)
}

func (d *demo) proveHere(ctx context.Context) (string, error) {
	if err := d.fetch(ctx); err != nil {
		return "", err
	}
	return "Checked here, without the node, its signed record proves itself", d.verifyRun(ctx)
}

func (d *demo) fetch(ctx context.Context) error {
	d.bundle, d.keys = filepath.Join(d.dir, "run.zip"), filepath.Join(d.dir, "keys.json")
	run, err := d.client.Export(ctx, d.task)
	if err != nil {
		return err
	}
	err = writeWhole(d.bundle, run)
	if err = errors.Join(err, run.Close()); err != nil {
		return err
	}
	keys, err := client.Do[abi.SigningKeys](ctx, d.client, client.Get("/.well-known/wharf-keys.json"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.keys, keys.JSON, 0o600); err != nil {
		return fmt.Errorf("writing the keys of the node: %w", err)
	}
	return nil
}

// demoRerunMemory is the memory that the module may have when the run is checked.
const demoRerunMemory = defaultMaxMemory << 20 / 2

// verifyRun checks the run as "wharf verify --trust" does: every hash and signature, and that its module does the same.
func (d *demo) verifyRun(ctx context.Context) error {
	keys, err := trustedKeys([]string{d.keys})
	if err != nil {
		return err
	}
	again := rerun{most: sandbox.Limits{MemoryBytes: demoRerunMemory}}
	report, err := verifyFile(ctx, d.bundle, bundle.Options{TrustKeys: keys, Rerun: again.run})
	if err != nil {
		return err
	}
	if !report.Valid {
		return fmt.Errorf("the record of the run is not valid: %s", report.Reason())
	}
	return nil
}
