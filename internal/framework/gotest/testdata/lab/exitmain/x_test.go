package exitmain

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) { m.Run(); fmt.Println("leak found"); os.Exit(7) }
func TestOne(t *testing.T)  {}
