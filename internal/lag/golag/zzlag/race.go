//go:build race
// +build race

package zzlag

import "runtime"

// hide keeps what follows out of the race detector's view of who waited for
// whom, until show.
func hide() { runtime.RaceDisable() }

func show() { runtime.RaceEnable() }
