#include "textflag.h"

// func rawVfork(flags uintptr) (result uintptr)
//
// The child runs on the caller's stack, and its calls overwrite the return address
// there: a register keeps it.
TEXT ·rawVfork(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ flags+0(FP), DI
	MOVQ $0, SI
	MOVQ $0, DX
	MOVQ $0, R10
	MOVQ $0, R8
	MOVQ $56, AX // clone
	POPQ R12
	SYSCALL
	PUSHQ R12
	MOVQ AX, result+8(FP)
	RET
