package zzlag

import (
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
)

// maxSleepers bounds the threads that are blocked at once: the runtime starts a
// new one for each, and a process may have ten thousand.
const maxSleepers = 200

var (
	spentUS  int64
	sleepers int32
)

// block keeps the thread busy doing nothing. The platform's file replaces it
// where the system has a call that blocks.
var block = time.Sleep

//go:norace
func (d decision) carryOut() {
	if d.yield {
		d.log()
		runtime.Gosched()
		return
	}
	if atomic.AddInt64(&spentUS, int64(d.ms*1000)) > current.budgetUS {
		return
	}
	if atomic.AddInt32(&sleepers, 1) <= maxSleepers {
		d.log()
		block(milliseconds(d.ms))
	}
	atomic.AddInt32(&sleepers, -1)
}

//go:norace
func (d decision) log() {
	s := `{"site":` + quote(d.site) + `,"kind":` + quote(d.kind) + `,"role":"` + roleNames[d.role] +
		`","hit":` + strconv.Itoa(int(d.hit)) + `,"ms":` + strconv.FormatFloat(d.ms, 'f', -1, 64)
	if d.yield {
		s += `,"yield":true`
	}
	writeLog(s + "}\n")
}

// maxRecords bounds the log of one process.
const maxRecords = 20000

var (
	logFile *os.File
	records int32
)

// openLog opens the log before the program runs, so that the file is not taken
// for a leak of the test's.
func openLog(path string) string {
	if path == "" {
		return ""
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0644)
	if err != nil {
		return err.Error()
	}
	logFile = f
	return ""
}

// writeLog appends one record with one write, so that processes can share the
// log and a killed one has told all it did.
//
//go:norace
func writeLog(line string) {
	if logFile != nil && atomic.AddInt32(&records, 1) <= maxRecords {
		logFile.WriteString(line)
	}
}
