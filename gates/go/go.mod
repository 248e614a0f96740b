module github.com/waitroom/waitroom/gates/go

go 1.19
