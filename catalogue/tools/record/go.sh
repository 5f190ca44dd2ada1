export GOCACHE="$PWD/../go-cache" GOFLAGS=-mod=mod GO111MODULE=on
sample main.go
rec 1; run 'go run main.go'
rm main.go; sample wave_test.go; go mod init example.org/wave 2>/dev/null
rec 2; run 'go version'; blank; run 'go test -v -bench . -cover'; blank; run 'go vet ./... && gofmt -l . && echo tidy'
