package zzlag

// hookCleanup is replaced when package testing could be overlaid too.
func hookCleanup() {}
