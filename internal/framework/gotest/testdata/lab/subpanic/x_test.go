package subpanic

import (
	"errors"
	"testing"
)

func TestSub(t *testing.T) {
	t.Run("one", func(t *testing.T) {})
	t.Run("two", func(t *testing.T) { panic(errors.New("boom in two")) })
}
