// The product of two matrices of 48 by 48 doubles: a tight loop of floats.
enum { N = 48 };
static double a[N][N], b[N][N], c[N][N];

__attribute__((export_name("run"))) int run(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i + j, b[i][j] = i - j;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  return (int)c[3][5];
}
