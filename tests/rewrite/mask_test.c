/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hardening: numbers outside of the range that facts tell, which only a processor that runs ahead
 * sees, become the smallest one of the range; all others stay. TAP.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/report.h"
#include "interp/interp.h"
#include "isa/fact.h"
#include "rewrite/rewrite.h"

static const int32_t bounds[] = { INT32_MIN, INT32_MIN + 1, -8, -1, 0, 1, 31, 4095, INT32_MAX };
static const int64_t numbers[] = { INT64_MIN,
				   INT64_MIN + 1,
				   INT32_MIN - 1ll,
				   INT32_MIN,
				   -4096,
				   -9,
				   -8,
				   -1,
				   0,
				   1,
				   30,
				   31,
				   32,
				   4095,
				   4096,
				   INT32_MAX,
				   1ll << 31,
				   1ll << 32,
				   1ll << 62,
				   INT64_MAX };

enum {
	BOUNDS = sizeof(bounds) / sizeof(bounds[0]),
	NUMBERS = sizeof(numbers) / sizeof(numbers[0])
};

static const struct {
	const char *text;
	uint8_t number;
	int sign;
} forms[] = {
	{ "r2 += r1\nr0 = r2\nexit\n", FACT_NUMBER_SRC, 1 },
	{ "r2 -= r1\nr0 = r2\nexit\n", FACT_NUMBER_SRC, -1 },
	{ "r1 += r2\nr0 = r1\nexit\n", FACT_NUMBER_DST, 1 },
};

static struct unit *hardened(const char *text, uint8_t number, int32_t min, int32_t max)
{
	const struct rewrite_opts opts = { .scratch = 2,
					   .traits = INTERP_TRAITS,
					   .hardened = true };
	struct unit *u = NULL, *out = NULL;

	if (unit_parse("mask", text, NULL, &u))
		return NULL;
	u->facts = mem_zalloc(u->n_ops, sizeof(*u->facts));
	for (uint32_t i = 0; u->facts && i < u->n_ops; i++)
		u->facts[i] = fact_unknown();
	if (u->facts) {
		u->facts[0].number = number;
		u->facts[0].number_value = 1;
		u->facts[0].number_min = min;
		u->facts[0].number_max = max;
		rewrite(u, &opts, NULL, &out);
	}
	unit_free(u);
	return out;
}

/* How many of the numbers give something else than they should. */
static unsigned check(const char *text, uint8_t number, int sign, int32_t min, int32_t max)
{
	const uint64_t base = 0x7f0012345678;
	struct unit *u = hardened(text, number, min, max);
	unsigned wrong = !u;

	for (unsigned i = 0; u && i < NUMBERS; i++) {
		int64_t n = numbers[i] < min || numbers[i] > max ? min : numbers[i];
		uint64_t want = sign < 0 ? base - (uint64_t)n : base + (uint64_t)n, got = 0;

		interp_run(u, (const uint64_t[5]){ (uint64_t)numbers[i], base }, NULL, &got);
		if (got != want && wrong++ < 5)
			printf("# %" PRId64 " in %d..%d: %" PRIx64 ", must be %" PRIx64 "\n",
			       numbers[i], min, max, got, want);
	}
	unit_free(u);
	return wrong;
}

int main(void)
{
	unsigned bad = 0;

	printf("1..%zu\n", sizeof(forms) / sizeof(forms[0]));
	for (unsigned f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
		unsigned wrong = 0;

		for (unsigned i = 0; i < BOUNDS; i++)
			for (unsigned k = i; k < BOUNDS; k++)
				wrong += check(forms[f].text, forms[f].number, forms[f].sign,
					       bounds[i], bounds[k]);
		printf("%sok %u - numbers stay in their range, form %u\n", wrong ? "not " : "",
		       f + 1, f + 1);
		bad += wrong;
	}
	return bad != 0;
}
