package hang

import (
	"testing"
	"time"
)

func TestQuick(t *testing.T) {}
func TestHang(t *testing.T)  { t.Run("inner", func(t *testing.T) { time.Sleep(time.Hour) }) }
