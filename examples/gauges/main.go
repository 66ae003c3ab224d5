// Command gauges is a plugin for Wharf: a Connector that makes a Task of each flood that a river gauge tells of.
package main

import (
	"encoding/json"
	"errors"
	"fmt"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// levels is what the deliveries of the provider are given to. The host has checked signatures before, and left out
// what had come before.
//
//go:wasmexport run
func levels() int32 { return wharf.Normalize(prepare) }

// settings are the Connector's own.
type settings struct {
	FloodCM int `json:"flood_cm"`
}

// prepare is called once for each batch of deliveries, which are all of one Connector.
func prepare(c *wharf.Connector) (wharf.Normalizer, error) {
	var s settings
	if err := json.Unmarshal(c.Settings, &s); err != nil {
		return nil, fmt.Errorf("the settings of the Connector: %w", err)
	}
	if s.FloodCM <= 0 {
		return nil, errors.New("the settings of the Connector have to say flood_cm, above 0")
	}
	return func(d *wharf.Delivery) (wharf.Normalized, error) {
		if kind := d.Header("x-gauge-kind"); !c.Wants(kind) {
			return wharf.Normalized{Ignored: "kind"}, nil
		}
		return s.normalize(d)
	}, nil
}

// reading is what a gauge sends.
type reading struct {
	Station    string `json:"station"`
	LevelCM    *int   `json:"level_cm"` // below the zero of the gauge it is negative
	MeasuredAt string `json:"measured_at"`
}

// normalize says what one delivery means: a Task in the Session of its station, or nothing. What is no reading is
// put aside with a code that tells people where to look.
func (s settings) normalize(d *wharf.Delivery) (wharf.Normalized, error) {
	var r reading
	if err := json.Unmarshal([]byte(d.Text), &r); err != nil {
		return wharf.Normalized{}, &wharf.Failure{Code: "no_json", Message: err.Error()}
	}
	if r.Station == "" || r.LevelCM == nil {
		return wharf.Normalized{}, &wharf.Failure{Code: "no_level", Message: "a reading has a station and a level_cm"}
	}
	if *r.LevelCM < s.FloodCM {
		return wharf.Normalized{Ignored: "no flood"}, nil
	}
	facts, err := wharf.JSONPart(r)
	if err != nil {
		return wharf.Normalized{}, err
	}
	text := wharf.TextPart(fmt.Sprintf("%s stands at %d cm, %d above flood level.", r.Station, *r.LevelCM, *r.LevelCM-s.FloodCM))
	message := wharf.Message{Role: "user", Parts: []wharf.Part{text, facts}}
	return wharf.Normalized{Tasks: []wharf.ConnectorTask{{Message: &message, Thread: r.Station}}}, nil
}

// main is never called: a plugin has exports instead.
func main() {}
