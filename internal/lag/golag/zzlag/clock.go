package zzlag

import (
	"sync/atomic"
	"time"
)

// D is a duration that bounds a wait.
func D(f *File, n int, d time.Duration) time.Duration {
	if !active {
		return d
	}
	return f.stretch(n, d, current.timeouts)
}

// S is the duration of a sleep.
func S(f *File, n int, d time.Duration) time.Duration {
	if !active {
		return d
	}
	return f.stretch(n, d, current.sleeps)
}

// T is a moment that bounds a wait.
func T(f *File, n int, t time.Time) time.Time {
	if !active || t.IsZero() {
		return t
	}
	left := time.Until(t)
	if d := f.stretch(n, left, current.timeouts); d != left {
		return t.Add(d - left)
	}
	return t
}

//go:norace
func (f *File) stretch(n int, d time.Duration, by float64) time.Duration {
	if by == 1 || d <= 0 {
		return d
	}
	hide()
	long := f.at(n).lengthen(d, by)
	show()
	return long
}

//go:norace
func (s *site) lengthen(d time.Duration, by float64) time.Duration {
	if !s.stretch {
		return d
	}
	more := float64(d) * (by - 1)
	if most := float64(milliseconds(current.capMS)); most > 0 && more > most {
		more = most
	}
	if more+float64(d) > float64(1<<62) {
		return d
	}
	if atomic.SwapInt32(&s.told, 1) == 0 {
		writeLog(`{"stretched":` + quote(s.id) + "}\n")
	}
	return d + time.Duration(more)
}
