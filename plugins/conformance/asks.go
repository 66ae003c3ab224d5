package main

import (
	"encoding/json"
	"fmt"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// form is a question of a form with the given properties, of which those that are required are named.
func form(key, prompt string, properties map[string]any, required ...string) (wharf.Question, error) {
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	text, err := json.Marshal(schema)
	return wharf.Question{Key: key, Prompt: prompt, Schema: text}, err
}

var text = map[string]any{"type": "string"}

func askFor(key, prompt, field string) (wharf.Question, error) {
	return form(key, prompt, map[string]any{field: text}, field)
}

// ask asks one question after it was made.
func ask(q wharf.Question, err error) (wharf.QuestionAnswer, error) {
	if err != nil {
		return wharf.QuestionAnswer{}, err
	}
	answers, err := wharf.Ask(wharf.Questions{CallID: q.Key, Requests: []wharf.Question{q}})
	if err != nil {
		return wharf.QuestionAnswer{}, err
	}
	return answers[0], nil
}

// action tells what became of a form as MCP has it.
func action(a wharf.QuestionAnswer) string {
	switch {
	case a.Status == wharf.QuestionAnswered:
		var content json.RawMessage
		if a.Decode(&content) != nil {
			content = json.RawMessage("{}")
		}
		return fmt.Sprintf("action=accept, content=%s", content)
	case a.Code == wharf.CodeDeclined:
		return "action=decline, content={}"
	}
	return "action=cancel, content={}"
}

// field returns a member of an answer that is a form.
func field(a wharf.QuestionAnswer, name string) (string, error) {
	var content map[string]any
	if err := a.Decode(&content); err != nil {
		return "", err
	}
	return fmt.Sprint(content[name]), nil
}

func elicitation(task *wharf.Task) (wharf.Result, error) {
	var args struct{ Message string }
	if err := task.Decode(&args); err != nil {
		return wharf.Result{}, err
	}
	described := func(what string) map[string]any { return map[string]any{"type": "string", "description": what} }
	answer, err := ask(form("response", args.Message, map[string]any{
		"username": described("User's response"), "email": described("User's email address"),
	}, "username", "email"))
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("User response: %s", action(answer))
}

func defaults(*wharf.Task) (wharf.Result, error) {
	answer, err := ask(form("settings", "Test client default value handling - please accept with defaults", map[string]any{
		"name":     map[string]any{"type": "string", "description": "User name", "default": "John Doe"},
		"age":      map[string]any{"type": "integer", "description": "User age", "default": 30},
		"score":    map[string]any{"type": "number", "description": "User score", "default": 95.5},
		"status":   map[string]any{"type": "string", "description": "User status", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
		"verified": map[string]any{"type": "boolean", "description": "Verification status", "default": true},
	}))
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("Elicitation completed: %s", action(answer))
}

func enums(*wharf.Task) (wharf.Result, error) {
	options := []string{"option1", "option2", "option3"}
	titled := func(kind string) []map[string]string {
		return []map[string]string{
			{"const": "value1", "title": "First " + kind}, {"const": "value2", "title": "Second " + kind}, {"const": "value3", "title": "Third " + kind},
		}
	}
	answer, err := ask(form("choices", "Test enum schema improvements", map[string]any{
		"untitledSingle": map[string]any{"type": "string", "description": "Select one option", "enum": options},
		"titledSingle":   map[string]any{"type": "string", "description": "Select one option with titles", "oneOf": titled("Option")},
		"legacyEnum": map[string]any{"type": "string", "description": "Select one option (legacy)",
			"enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"Option One", "Option Two", "Option Three"}},
		"untitledMulti": map[string]any{"type": "array", "description": "Select multiple options", "items": map[string]any{"type": "string", "enum": options}},
		"titledMulti":   map[string]any{"type": "array", "description": "Select multiple options with titles", "items": map[string]any{"anyOf": titled("Choice")}},
	}))
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("Elicitation completed: %s", action(answer))
}

// asking is what a model of the client's is asked.
func asking(prompt string, maxTokens int) wharf.Sampling {
	return wharf.Sampling{Messages: []wharf.SamplingMessage{wharf.SaysText("user", prompt)}, MaxTokens: maxTokens}
}

func sampling(task *wharf.Task) (wharf.Result, error) {
	var args struct{ Prompt string }
	if err := task.Decode(&args); err != nil {
		return wharf.Result{}, err
	}
	said, err := wharf.Sample("sample", asking(args.Prompt, 100), 0)
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("LLM response: %s", said.Text())
}

// streaming tells of itself before it asks.
func streaming(*wharf.Task) (wharf.Result, error) {
	if err := wharf.Progress(0.5, "about to ask"); err != nil {
		return wharf.Result{}, err
	}
	answer, err := ask(askFor("confirm", "Go on?", "answer"))
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("Elicitation completed: %s", action(answer))
}

// missingCapability needs what the suite says that it has not.
func missingCapability(*wharf.Task) (wharf.Result, error) {
	said, err := wharf.Sample("sample", asking("Say something.", 10), 0)
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("LLM response: %s", said.Text())
}

func askName(*wharf.Task) (wharf.Result, error) {
	answer, err := ask(askFor("user_name", "What is your name?", "name"))
	if err != nil {
		return wharf.Result{}, err
	}
	name, err := field(answer, "name")
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("Hello, %s!", name)
}

func askModel(*wharf.Task) (wharf.Result, error) {
	answer, err := ask(wharf.SamplingQuestion("capital_question", asking("What is the capital of France?", 100)))
	if err != nil {
		return wharf.Result{}, err
	}
	var said wharf.Sampled
	if err := answer.Decode(&said); err != nil {
		return wharf.Result{}, err
	}
	return sayText("LLM response: %s", said.Text())
}

func rootsQuestion() wharf.Question {
	return wharf.Question{Key: "client_roots", Kind: wharf.KindRoots}
}

func askRoots(*wharf.Task) (wharf.Result, error) {
	answer, err := ask(rootsQuestion(), nil)
	if err != nil {
		return wharf.Result{}, err
	}
	uris, err := rootsOf(answer)
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("Client roots: %s", uris)
}

func rootsOf(answer wharf.QuestionAnswer) (string, error) {
	var given struct{ Roots []wharf.Root }
	if err := answer.Decode(&given); err != nil {
		return "", err
	}
	var uris []string
	for _, r := range given.Roots {
		uris = append(uris, r.URI)
	}
	return strings.Join(uris, ", "), nil
}

// askState goes on only with the state with which it has asked, which the host holds.
func askState(*wharf.Task) (wharf.Result, error) {
	answer, err := ask(form("confirm", "Please confirm", map[string]any{"ok": map[string]any{"type": "boolean"}}, "ok"))
	if err != nil {
		return wharf.Result{}, err
	}
	ok, err := field(answer, "ok")
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("state-ok: confirmed=%s", ok)
}

func askAll(*wharf.Task) (wharf.Result, error) {
	name, err := askFor("user_name", "What is your name?", "name")
	if err != nil {
		return wharf.Result{}, err
	}
	greeting, err := wharf.SamplingQuestion("greeting", asking("Generate a greeting", 50))
	if err != nil {
		return wharf.Result{}, err
	}
	return askTogether(name, greeting, rootsQuestion())
}

// askTogether asks several questions at once, and tells which were answered.
func askTogether(questions ...wharf.Question) (wharf.Result, error) {
	answers, err := wharf.Ask(wharf.Questions{CallID: "all", Requests: questions})
	if err != nil {
		return wharf.Result{}, err
	}
	var told []string
	for _, a := range answers {
		told = append(told, a.Key+" "+a.Status)
	}
	return sayText("%s", strings.Join(told, ", "))
}

func askTwice(*wharf.Task) (wharf.Result, error) {
	first, err := ask(askFor("step1", "Step 1: What is your name?", "name"))
	if err != nil {
		return wharf.Result{}, err
	}
	name, err := field(first, "name")
	if err != nil {
		return wharf.Result{}, err
	}
	second, err := ask(askFor("step2", "Step 2: What is your favorite color?", "color"))
	if err != nil {
		return wharf.Result{}, err
	}
	color, err := field(second, "color")
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("%s likes %s.", name, color)
}

// askWhatItCan asks only what the client has said that it can answer.
func askWhatItCan(*wharf.Task) (wharf.Result, error) {
	client, err := wharf.AskingClient()
	if err != nil {
		return wharf.Result{}, err
	}
	var questions []wharf.Question
	if client.Can(wharf.ClientElicitsForm) {
		q, err := askFor("user_name", "What is your name?", "name")
		if err != nil {
			return wharf.Result{}, err
		}
		questions = append(questions, q)
	}
	if client.Can(wharf.ClientSamples) {
		q, err := wharf.SamplingQuestion("greeting", asking("Generate a greeting", 50))
		if err != nil {
			return wharf.Result{}, err
		}
		questions = append(questions, q)
	}
	if client.Can(wharf.ClientHasRoots) {
		questions = append(questions, rootsQuestion())
	}
	if len(questions) == 0 {
		return sayText("The client cannot be asked anything.")
	}
	return askTogether(questions...)
}
