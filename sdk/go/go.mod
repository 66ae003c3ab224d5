module github.com/wharf-dev/wharf/sdk/go

go 1.26.0
