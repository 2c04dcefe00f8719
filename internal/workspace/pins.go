package workspace

import "path"

// Pin is a file that pins what a project installs.
type Pin struct {
	// File is relative to the root, with forward slashes.
	File string
	// Tool is the program that installs what it says, as it is found on the PATH.
	Tool string
	// Command is what is run for a side that pins otherwise than the checkout.
	Command []string
}

// PythonPins are the files that pin the Python project in dir, else the one in
// the root: one lock file, or the files of pip's requirements.
func PythonPins(root, dir string) []Pin {
	for _, at := range pythonHomes(dir) {
		for _, name := range pythonLocks {
			if there(root, at, name) {
				argv := venvCommands(name, nil, "")[0]
				return []Pin{{path.Join(at, name), argv[0], argv}}
			}
		}
		var pins []Pin
		for _, name := range requirementFiles(root, at) {
			pins = append(pins, Pin{name, "python3", []string{"python3", "-m", "pip", "install", "-r", name}})
		}
		if len(pins) > 0 {
			return pins
		}
	}
	return nil
}

// ModulesPins are the lock files of the JavaScript projects that the code in dir
// can import from, the nearest first; without any, the manifest of the nearest.
func ModulesPins(root, dir string) []Pin {
	var pins []Pin
	for _, p := range jsProjects(root, dir) {
		argv := p.installCommand(root)
		pins = append(pins, Pin{p.named(), argv[0], argv})
	}
	return pins
}
