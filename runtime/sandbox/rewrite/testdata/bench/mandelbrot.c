// The Mandelbrot set at 32 by 32 points, 200 steps at most: floats that live in
// registers, and a branch in each step.
__attribute__((export_name("run"))) int run(void) {
  int inside = 0;
  for (int y = 0; y < 32; y++)
    for (int x = 0; x < 32; x++) {
      double cr = x / 16.0 - 1.5, ci = y / 16.0 - 1.0, zr = 0, zi = 0;
      int n = 0;
      while (n < 200 && zr * zr + zi * zi <= 4) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci, zr = t, n++;
      }
      inside += n == 200;
    }
  return inside;
}
