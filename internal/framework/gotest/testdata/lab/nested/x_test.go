package nested

import "testing"

func TestOuter(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Run("bad one", func(t *testing.T) { t.Run("deep/er", func(t *testing.T) { t.Error("deep is wrong") }) })
	t.Run("bad one", func(t *testing.T) { t.Fatal("second bad one") })
	t.Run("skips", func(t *testing.T) { t.Skip("no") })
}
func TestParentToo(t *testing.T) {
	t.Run("child", func(t *testing.T) { t.Error("child is wrong") })
	t.Error("parent checks too: total 2, want 3")
}
