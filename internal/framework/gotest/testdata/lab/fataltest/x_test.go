package fataltest

import (
	"log"
	"testing"
)

func TestLogFatal(t *testing.T) { log.Fatal("cannot reach db") }
