/* Band-limited noise. Enters: a seed and a phase, any doubles. Leaves: a normal value, the same for the same arguments.
 *
 * A normal sample belongs to each whole phase: its index and the seed, mixed (D. Lea and others' SplitMix64, OOPSLA
 * 2014, with the finalizer of S. Vigna), give two uniform numbers, and these the samples of an even index and the odd
 * one after it (Box and Muller, Ann. Math. Statist. 29(2), 1958). Between whole phases the samples are summed with the
 * weights of a sinc under Hann's window, divided by the root of the sum of their squares: so the variance is 1 at every
 * phase.
 *
 * With TK_TAPS = 24 samples the filter falls from 1 to 1/160 between 0.37 and 0.5 cycles a unit of phase. */
#include "kernel/double_parts.h"
#include "kernel/kernel.h"
#include "kernel/sections.h"

#define TK_TAPS 24

/* Half way down the filter's slope, in cycles a unit of phase. */
static const double tk_noise_cutoff = 0.435;
static const double tk_two_pi = 0x1.921fb54442d18p+2;
/* Cosine and sine of one sample's turn: of the sinc, two_pi * cutoff, and of the window, two_pi / TAPS. */
static const double tk_sinc_turn[2] = {-0x1.d5e3ef2e217edp-1, 0x1.96adefc7ce9c2p-2};
static const double tk_window_turn[2] = {0x1.ee8dd4748bf15p-1, 0x1.0907dc1930690p-2};

static uint64_t tk_mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* The samples 2 * pair and 2 * pair + 1. -0 counts as 0. */
static void tk_sample_pair(uint64_t key, double pair, double* even, double* odd) {
  const uint64_t first = tk_mix(key ^ tk_mix(tk_bits(pair + 0.0)));
  const uint64_t second = tk_mix(first);
  const double radius = tk_sqrt(-2.0 * tk_log(((double)(first >> 11) + 0.5) * 0x1p-53));
  double s;
  double c;
  tk_sincos(tk_two_pi * ((double)(second >> 11) * 0x1p-53), &s, &c);
  *even = radius * c;
  *odd = radius * s;
}

double tk_noise(double seed, double phase) {
  if (!tk_is_finite(seed) || !tk_is_finite(phase)) return tk_nan();
  const double whole = tk_floor(phase);
  const double part = phase - whole;
  const uint64_t key = tk_mix(tk_mix(tk_bits(seed + 0.0)));

  /* Samples whole - 11 .. whole + 12; sample j is part - j away. */
  const double first = whole - (TK_TAPS / 2 - 1);
  double pair = tk_floor(0.5 * first);
  int is_odd = first - 2.0 * pair != 0.0;
  double even = 0.0;
  double odd = 0.0;
  tk_sample_pair(key, pair, &even, &odd);

  double away = part + (TK_TAPS / 2 - 1);
  double sinc_sin;
  double sinc_cos;
  double window_sin;
  double window_cos;
  tk_sincos(tk_two_pi * tk_noise_cutoff * away, &sinc_sin, &sinc_cos);
  tk_sincos(tk_two_pi / TK_TAPS * away, &window_sin, &window_cos);
  double sum = 0.0;
  double squares = 0.0;
  for (int j = 0; j < TK_TAPS; j++) {
    const double angle = tk_two_pi * tk_noise_cutoff * away;
    /* Near 0 the turned sine is not exact enough to be divided by the angle. */
    const double sine = away > -1.5 && away < 1.5 ? tk_sin(angle) : sinc_sin;
    const double weight = (angle == 0.0 ? 1.0 : sine / angle) * (1.0 + window_cos);
    sum += weight * (is_odd ? odd : even);
    squares += weight * weight;
    if (is_odd && j + 1 < TK_TAPS) {
      pair += 1.0;
      tk_sample_pair(key, pair, &even, &odd);
    }
    is_odd = !is_odd;
    away -= 1.0;
    const double s = sinc_sin * tk_sinc_turn[0] - sinc_cos * tk_sinc_turn[1];
    sinc_cos = sinc_cos * tk_sinc_turn[0] + sinc_sin * tk_sinc_turn[1];
    sinc_sin = s;
    const double c = window_cos * tk_window_turn[0] + window_sin * tk_window_turn[1];
    window_sin = window_sin * tk_window_turn[0] - window_cos * tk_window_turn[1];
    window_cos = c;
  }
  return sum / tk_sqrt(squares);
}
