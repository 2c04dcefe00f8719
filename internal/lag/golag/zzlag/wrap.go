package zzlag

// W0 makes a function that passes a lag point before its body.
func W0(f *File, n int, fn func()) func() {
	if !active || fn == nil {
		return fn
	}
	return func() { P(f, n); fn() }
}
