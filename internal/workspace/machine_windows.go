package workspace

import "io/fs"

const openFlags = 0

func links(fs.FileInfo) uint64 { return 1 }
