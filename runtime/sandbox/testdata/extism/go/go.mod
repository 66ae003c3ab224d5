module github.com/wharf-dev/wharf/runtime/sandbox/testdata/extism/go

go 1.26.0

require github.com/extism/go-pdk v1.1.3
