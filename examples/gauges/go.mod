module example.com/gauges

go 1.26.0

require github.com/wharf-dev/wharf/sdk/go v0.0.0

replace github.com/wharf-dev/wharf/sdk/go => ../../sdk/go
