package zzlag

import "reflect"

// W is W0 for functions of any type. The arguments of a go statement are still
// evaluated by the caller.
func W[F any](f *File, n int, fn F) F {
	if !active {
		return fn
	}
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func || v.IsNil() {
		return fn
	}
	t := v.Type()
	return reflect.MakeFunc(t, func(a []reflect.Value) []reflect.Value {
		P(f, n)
		if t.IsVariadic() {
			return v.CallSlice(a)
		}
		return v.Call(a)
	}).Interface().(F)
}
