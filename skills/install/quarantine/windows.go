package quarantine

import "runtime"

// onWindows reports whether names that Windows does not have are errors.
const onWindows = runtime.GOOS == "windows"
