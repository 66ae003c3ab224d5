package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// moment is the pause between what a tool tells of itself.
const moment = 50 * time.Millisecond

// say appends an answer of the given parts.
func say(summary string, parts ...wharf.Part) (wharf.Result, error) {
	_, err := wharf.AppendMessage(wharf.Message{Role: "assistant", Parts: parts})
	return wharf.Result{Summary: summary}, err
}

func sayText(format string, args ...any) (wharf.Result, error) {
	text := fmt.Sprintf(format, args...)
	return say("answered", wharf.TextPart(text))
}

// resourcePart is a text that is the content of a resource.
func resourcePart(uri, mimeType, text string) wharf.Part {
	return wharf.Part{Type: "file_ref", URI: uri, MimeType: mimeType, Text: text, Visibility: "public"}
}

// stored keeps bytes as an Artifact and returns a part that refers to it.
func stored(kind, mimeType, name string, content []byte) (wharf.Part, error) {
	a, err := wharf.PutArtifact(wharf.Artifact{Kind: kind, MimeType: mimeType, Name: name}, content)
	return wharf.ArtifactPart(a.ID), err
}

// redPixel is a PNG of one red pixel.
const redPixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"

func redPixelPart() (wharf.Part, error) {
	png, err := base64.StdEncoding.DecodeString(redPixel)
	if err != nil {
		return wharf.Part{}, err
	}
	return stored("image", "image/png", "red.png", png)
}

// silence is a WAV file of a few samples of silence.
func silence() ([]byte, error) {
	const samples = 8
	var wav bytes.Buffer
	wav.WriteString("RIFF")
	for _, v := range []any{
		uint32(36 + samples), []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(8000), uint32(8000),
		uint16(1), uint16(8), []byte("data"), uint32(samples), bytes.Repeat([]byte{0x80}, samples),
	} {
		if err := binary.Write(&wav, binary.LittleEndian, v); err != nil {
			return nil, err
		}
	}
	return wav.Bytes(), nil
}

func simpleText(*wharf.Task) (wharf.Result, error) {
	return sayText("This is a simple text response for testing.")
}

func image(*wharf.Task) (wharf.Result, error) {
	part, err := redPixelPart()
	if err != nil {
		return wharf.Result{}, err
	}
	return say("an image", part)
}

func audio(*wharf.Task) (wharf.Result, error) {
	wav, err := silence()
	if err != nil {
		return wharf.Result{}, err
	}
	part, err := stored("file", "audio/wav", "silence.wav", wav)
	if err != nil {
		return wharf.Result{}, err
	}
	return say("a sound", part)
}

func embedded(*wharf.Task) (wharf.Result, error) {
	return say("a resource", resourcePart("test://embedded-resource", "text/plain", "This is an embedded resource content."))
}

func mixed(*wharf.Task) (wharf.Result, error) {
	picture, err := redPixelPart()
	if err != nil {
		return wharf.Result{}, err
	}
	return say("a text, an image and a resource", wharf.TextPart("Multiple content types test:"), picture,
		resourcePart("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`))
}

func logging(*wharf.Task) (wharf.Result, error) {
	for i, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			time.Sleep(moment)
		}
		if err := wharf.Log(wharf.LevelInfo, "%s", line); err != nil {
			return wharf.Result{}, err
		}
	}
	return sayText("Tool with logging executed successfully")
}

func progress(*wharf.Task) (wharf.Result, error) {
	for i, fraction := range []float64{0, 0.5, 1} {
		if i > 0 {
			time.Sleep(moment)
		}
		if err := wharf.Progress(fraction, fmt.Sprintf("Completed step %d of 2", i)); err != nil {
			return wharf.Result{}, err
		}
	}
	return sayText("Tool with progress executed successfully")
}

func failing(*wharf.Task) (wharf.Result, error) {
	return wharf.Result{}, &wharf.Failure{Code: "intentional", Message: "This tool intentionally returns an error for testing"}
}

// echo answers with its arguments, for tools of which only the schema matters.
func echo(task *wharf.Task) (wharf.Result, error) { return sayText("%s", task.Input) }

// reconnection is parked for a moment, which outlives the client's connection.
func reconnection(*wharf.Task) (wharf.Result, error) {
	if err := wharf.Sleep(2 * moment); err != nil {
		return wharf.Result{}, err
	}
	return sayText("Reconnection test completed successfully. If you received this, the client properly reconnected after stream closure.")
}
