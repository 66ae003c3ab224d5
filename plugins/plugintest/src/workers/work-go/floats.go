package main

import "math"

var special64 = [16]uint64{
	0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fb999999999999a, 0x7fe1ccf385ebc8a0,
	0xffe1ccf385ebc8a0, 1, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
	0x7ff8deadbeef0001, 0x7ff0000000000001, 0x400921fb54442d18, 0x0000123456789abc,
}

var special32 = [8]uint32{0x80000000, 0x3f800000, 0x7f7fffff, 1, 0x7f800000, 0xff800000, 0xffc00123, 0x7f800001}

func (d *digest) double(v float64) { d.mix(math.Float64bits(v)) }
func (d *digest) single(v float32) { d.mix(uint64(math.Float32bits(v))) }

func floats(d *digest, n int) error {
	for _, i := range special64 {
		for _, j := range special64 {
			doubles(d, math.Float64frombits(i), math.Float64frombits(j))
		}
	}
	for _, i := range special32 {
		for _, j := range special32 {
			singles(d, math.Float32frombits(i), math.Float32frombits(j))
		}
	}
	for _, i := range special64 {
		rounded(d, math.Float64frombits(i))
	}
	chaos(d, n)
	return nil
}

func doubles(d *digest, a, b float64) {
	d.double(a + b)
	d.double(a - b)
	d.double(a * b)
	d.double(a / b)
	d.double(-(a * b))
	d.double(math.Copysign(a-b, b))
}

func singles(d *digest, a, b float32) {
	d.single(a + b)
	d.single(a - b)
	d.single(a * b)
	d.single(a / b)
	d.double(float64(a))
}

func rounded(d *digest, a float64) {
	d.double(math.Sqrt(a))
	d.double(-a)
	d.single(float32(a))
	d.double(math.Floor(a))
	d.double(math.Ceil(a))
	d.double(math.Trunc(a))
	d.double(math.RoundToEven(a))
}

func chaos(d *digest, n int) {
	x, sum := 0.5, 0.0
	for i := 1; i <= n; i++ {
		x = 3.99 * x * (1 - x)
		sum += math.Sqrt(x) / float64(i)
		if i%16 == 0 {
			sum /= x - x // infinite
		}
		if i%32 == 0 {
			sum -= sum // not a number
		}
		d.double(sum)
		if i%32 == 0 {
			sum = x
		}
	}
	d.double(x)
}
