package pyargs

import "testing"

func TestRuns(t *testing.T) {
	const def = "import os, sys\ndef main(): return 1\n"
	const guard = def + "if __name__ == '__main__':\n    "
	for source, want := range map[string]bool{
		"":                            true, // as there is nothing to import
		"print('hello')":              true,
		def:                           false,
		"class A:\n  x = f()\n":       false,
		def + "main()":                true,
		def + "x = main()":            true,
		def + "x = os.getcwd()":       false,
		def + "sys.path.insert(0, x)": false,
		def + "print(x)":              true,
		def + "print('text')":         false,
		def + "for x in y: pass":      true,
		def + "try:\n  import x\nexcept ImportError:\n  sys.exit(main())\n": false,
		def + "try:\n  main()\nfinally:\n  pass\n":                          true,
		def + "(":                                                    true,
		guard + "main()":                                             true,
		guard + "sys.exit(main())":                                   true,
		guard + "raise SystemExit(main())":                           true,
		guard + "print(main())":                                      true,
		guard + "print(f'{__file__}: import')":                       false,
		guard + "print('a', file=sys.stderr); sys.exit(2)":           false,
		guard + "raise SystemExit('import it')":                      false,
		guard + "raise NotImplementedError":                          false,
		guard + "pass":                                               false,
		guard + "if A().test():\n        print('ok')\nclass A: pass": true,
		guard + "x.run()":                                            true,
	} {
		if got := Runs([]byte(source)); got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}
