package native

// threadMemory returns 0: compiled Go has all it needs of its thread in a
// register.
func threadMemory() uintptr { return 0 }
