package install

import "sync"

// parallel calls do for each number below n, at most limit at the same time, and returns
// the first error by number.
func parallel(n, limit int, do func(int) error) error {
	var all sync.WaitGroup
	errs, slots := make([]error, n), make(chan struct{}, limit)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	all.Wait()
	return firstError(errs...)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
