package settings

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// Settings holds values by plugin and name. It is not changed once it is in use.
type Settings map[string]map[string]jsontext.Value

var _ provider.Performer = Settings(nil)

// Prepare implements [provider.Performer]. A plugin reads its own settings alone;
// a name that is not configured is null.
func (s Settings) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	return answer(c, func(plugin, name string) jsontext.Value { return s[plugin][name] })
}

// Defaults are Settings, and what stands for those that they leave out.
type Defaults struct {
	Set Settings
	// Default returns what a plugin says of its own setting, nil for nothing.
	Default func(plugin, name string) jsontext.Value
}

var _ provider.Performer = Defaults{}

// Prepare implements [provider.Performer].
func (d Defaults) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	return answer(c, func(plugin, name string) jsontext.Value {
		if value := d.Set[plugin][name]; value != nil {
			return value
		}
		return d.Default(plugin, name)
	})
}

// answer answers a call with what lookup returns, nil for null.
func answer(c *provider.Call, lookup func(plugin, name string) jsontext.Value) (provider.Plan, error) {
	var req abi.CallConfigGetRequest
	if err := json.Unmarshal(c.Request, &req); err != nil || req.Name == "" {
		return provider.Plan{}, provider.Refuse(abi.CallInvalid, "invalid_request", `config.get takes {"name": "..."}`)
	}
	value := lookup(c.Plugin, req.Name)
	if value == nil {
		value = jsontext.Value("null")
	}
	if abi.TooDeep(value, abi.MaxToldDepth) >= 0 {
		return provider.Plan{}, provider.Refuse(abi.CallUnavailable, provider.CodeTooDeep,
			fmt.Sprintf("the setting nests deeper than %d levels", abi.MaxToldDepth))
	}
	return provider.Plan{Effect: abi.EffectRead, Do: func(context.Context, func(string)) ([]byte, error) {
		return json.Marshal(abi.CallConfigGetAnswer{Value: value})
	}}, nil
}
