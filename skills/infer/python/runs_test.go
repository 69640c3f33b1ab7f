package python

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
		def + "(":                                                     true,
		guard + "main()":                                              true,
		guard + "sys.exit(main())":                                    true,
		guard + "raise SystemExit(main())":                            true,
		guard + "print(main())":                                       true,
		guard + "print(f'{__file__}: import')":                        false,
		guard + "print('a', file=sys.stderr); sys.exit(2)":            false,
		guard + "raise SystemExit('import it')":                       false,
		guard + "raise NotImplementedError":                           false,
		guard + "pass":                                                false,
		guard + "if A().test():\n        print('ok')\nclass A: pass":  true,
		guard + "unittest.main()":                                     false,
		guard + "sys.exit(pytest.main([__file__]))":                   false,
		guard + "raise SystemExit(pytest.main([__file__]))":           false,
		guard + "doctest.testmod()":                                   false,
		guard + "doctest.testmod()\n    main()":                       true,
		guard + "unittest.main() if 't' in sys.argv else main()":      true,
		"import unittest\nif __name__ == '__main__': unittest.main()": false,
		guard + "if 't' in sys.argv:\n        unittest.main()\n    else:\n        main()":         true,
		"def main():\n    return pytest.main()\nif __name__ == '__main__':\n    sys.exit(main())": true,
		guard + "x.run()": true,
	} {
		if got := NewModule([]byte(source)).Runs(); got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}
