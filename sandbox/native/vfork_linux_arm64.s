#include "textflag.h"

// func rawVfork(flags uintptr) (result uintptr)
//
// The child runs on the caller's stack. The return address is in a register.
TEXT ·rawVfork(SB), NOSPLIT, $0-16
	MOVD flags+0(FP), R0
	MOVD $0, R1
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	MOVD $220, R8 // clone
	SVC
	MOVD R0, result+8(FP)
	RET
