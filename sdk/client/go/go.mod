module github.com/wharf-dev/wharf/sdk/client/go

go 1.26.0
