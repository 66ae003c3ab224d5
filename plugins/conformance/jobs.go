package main

import (
	"math"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

func greet(task *wharf.Task) (wharf.Result, error) {
	var args struct{ Name string }
	if err := task.Decode(&args); err != nil {
		return wharf.Result{}, err
	}
	return sayText("Hello, %s!", args.Name)
}

// slowCompute is parked for as long as it is told to.
func slowCompute(task *wharf.Task) (wharf.Result, error) {
	var args struct {
		Seconds float64
		Label   string
	}
	if err := task.Decode(&args); err != nil {
		return wharf.Result{}, err
	}
	if args.Seconds > 0 {
		ms := math.Min(args.Seconds*1000, 24*60*60*1000)
		if err := wharf.Sleep(time.Duration(ms) * time.Millisecond); err != nil {
			return wharf.Result{}, err
		}
	}
	return sayText("Computed %s for %g seconds.", args.Label, args.Seconds)
}

func failingJob(*wharf.Task) (wharf.Result, error) {
	if err := wharf.Sleep(time.Second); err != nil {
		return wharf.Result{}, err
	}
	return wharf.Result{}, &wharf.Failure{Code: "job_failed", Message: "this job always fails"}
}

func confirmDelete(task *wharf.Task) (wharf.Result, error) {
	var args struct{ Filename string }
	if err := task.Decode(&args); err != nil {
		return wharf.Result{}, err
	}
	answer, err := ask(form("confirm", "Delete "+args.Filename+"?", map[string]any{"confirm": map[string]any{"type": "boolean"}}, "confirm"))
	if err != nil {
		return wharf.Result{}, err
	}
	if sure, err := field(answer, "confirm"); err != nil || sure != "true" {
		return sayText("%s was kept.", args.Filename)
	}
	return sayText("%s was deleted.", args.Filename)
}

// multiInput asks two things at once, which can be answered one by one.
func multiInput(*wharf.Task) (wharf.Result, error) {
	name, err := askFor("name", "What is your name?", "name")
	if err != nil {
		return wharf.Result{}, err
	}
	sure, err := form("confirm", "Are you sure?", map[string]any{"confirm": map[string]any{"type": "boolean"}}, "confirm")
	if err != nil {
		return wharf.Result{}, err
	}
	return askTogether(name, sure)
}

// askThenWork has its question answered before it becomes a task, as its Skill says.
func askThenWork(*wharf.Task) (wharf.Result, error) {
	answer, err := ask(askFor("user_name", "What is your name?", "name"))
	if err != nil {
		return wharf.Result{}, err
	}
	name, err := field(answer, "name")
	if err != nil {
		return wharf.Result{}, err
	}
	if err := wharf.Sleep(moment); err != nil {
		return wharf.Result{}, err
	}
	return sayText("Done for %s.", name)
}
