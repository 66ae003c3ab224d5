package main

import (
	"encoding/json"
	"fmt"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// sayAsUser appends the messages of a prompt, of a part each.
func sayAsUser(parts ...wharf.Part) (wharf.Result, error) {
	for _, p := range parts {
		if _, err := wharf.AppendMessage(wharf.Message{Role: "user", Parts: []wharf.Part{p}}); err != nil {
			return wharf.Result{}, err
		}
	}
	return wharf.Result{Summary: "a prompt"}, nil
}

func simplePrompt(*wharf.Task) (wharf.Result, error) {
	return sayAsUser(wharf.TextPart("This is a simple prompt for testing."))
}

func argumentsPrompt(task *wharf.Task) (wharf.Result, error) {
	var args struct{ Arg1, Arg2 string }
	if err := task.Decode(&args); err != nil {
		return wharf.Result{}, err
	}
	return sayAsUser(wharf.TextPart(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args.Arg1, args.Arg2)))
}

func resourcePrompt(task *wharf.Task) (wharf.Result, error) {
	var args struct {
		ResourceURI string `json:"resourceUri"`
	}
	if err := task.Decode(&args); err != nil {
		return wharf.Result{}, err
	}
	return sayAsUser(resourcePart(args.ResourceURI, "text/plain", "Embedded resource content for testing."),
		wharf.TextPart("Please process the embedded resource above."))
}

func imagePrompt(*wharf.Task) (wharf.Result, error) {
	picture, err := redPixelPart()
	if err != nil {
		return wharf.Result{}, err
	}
	return sayAsUser(picture, wharf.TextPart("Please analyze the image above."))
}

func askingPrompt(*wharf.Task) (wharf.Result, error) {
	answer, err := ask(askFor("user_context", "What context should the prompt use?", "context"))
	if err != nil {
		return wharf.Result{}, err
	}
	context, err := field(answer, "context")
	if err != nil {
		return wharf.Result{}, err
	}
	return sayAsUser(wharf.TextPart("Use this context: " + context))
}

func staticText(*wharf.Task) (wharf.Result, error) {
	return sayText("This is the content of the static text resource.")
}

func staticBinary(*wharf.Task) (wharf.Result, error) {
	picture, err := redPixelPart()
	if err != nil {
		return wharf.Result{}, err
	}
	return say("an image", picture)
}

func templateData(task *wharf.Task) (wharf.Result, error) {
	var args struct{ ID string }
	if err := task.Decode(&args); err != nil {
		return wharf.Result{}, err
	}
	data, err := json.Marshal(struct {
		ID           string `json:"id"`
		TemplateTest bool   `json:"templateTest"`
		Data         string `json:"data"`
	}{args.ID, true, "Data for ID: " + args.ID})
	if err != nil {
		return wharf.Result{}, err
	}
	return sayText("%s", data)
}

func watched(*wharf.Task) (wharf.Result, error) { return sayText("Watched resource content") }
