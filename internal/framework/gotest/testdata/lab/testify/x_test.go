package testify

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"testing"
)

type S struct {
	A int
	B string
}

func TestAssert(t *testing.T) {
	t.Log("before")
	assert.Equal(t, S{1, "x"}, S{2, "y"}, "the %s", "message")
	assert.True(t, false)
	t.Log("after: got to the end")
}
func TestRequire(t *testing.T) { require.NoError(t, errT{}) }
func TestSubs(t *testing.T)    { t.Run("x", func(t *testing.T) { require.Equal(t, 1, 2) }) }

type errT struct{}

func (errT) Error() string { return "dial tcp 127.0.0.1:38211: connect: connection refused" }
