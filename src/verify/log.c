/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log's dialect: states and ops as the kernel (6.12) prints them. Tools and tests match these
 * texts; nothing else in verify/ formats a register.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verify/ver.h"

enum { COMMENT_COLUMN = 40, COMMENT_TAB = 8 };

static void log_s(struct ver *v, int64_t n)
{
	if (n >= INT16_MIN && n <= INT16_MAX)
		note(v, "%" PRId64, n);
	else
		note(v, "0x%" PRIx64, (uint64_t)n);
}

static void log_u(struct ver *v, uint64_t n)
{
	if (n <= INT16_MAX)
		note(v, "%" PRIu64, n);
	else
		note(v, "0x%" PRIx64, n);
}

/* The separator before an item of a list in parentheses. */
static const char *comma(bool *first)
{
	const char *s = *first ? "" : ",";

	*first = false;
	return s;
}

struct bound {
	const char *name;
	int64_t val;
	bool dull; /* the widest there is, or already printed with another of the same value */
};

/* Ends of the intervals; equal ones share a value: smin=umin=3. */
static void log_ranges(struct ver *v, const struct scalar *s, bool *first)
{
	struct bound b[] = {
		{ "smin", s->d.smin, s->d.smin == INT64_MIN },
		{ "smax", s->d.smax, s->d.smax == INT64_MAX },
		{ "umin", (int64_t)s->d.umin, s->d.umin == 0 },
		{ "umax", (int64_t)s->d.umax, s->d.umax == UINT64_MAX },
		{ "smin32", s->w.smin, s->w.smin == INT32_MIN },
		{ "smax32", s->w.smax, s->w.smax == INT32_MAX },
		{ "umin32", s->w.umin, s->w.umin == 0 },
		{ "umax32", s->w.umax, s->w.umax == UINT32_MAX },
	};
	enum { N = sizeof(b) / sizeof(b[0]) };

	for (int i = 0; i < N; i++) {
		if (b[i].dull)
			continue;
		note(v, "%s%s=", comma(first), b[i].name);
		for (int j = i + 2; j < N; j += 2) {
			if (b[j].dull || b[j].val != b[i].val ||
			    (b[i].val < 0 && b[j].name[0] != b[i].name[0]))
				continue;
			note(v, "%s=", b[j].name);
			b[j].dull = true;
		}
		if (b[i].name[0] == 's')
			log_s(v, b[i].val);
		else
			log_u(v, (uint64_t)b[i].val);
	}
}

/* Known bits, as "(value; mask)", or the value when all are known. */
const char *bits_text(const struct scalar *s, char *buf, size_t size)
{
	if (s->d.mask)
		snprintf(buf, size, "(0x%" PRIx64 "; 0x%" PRIx64 ")", s->d.val, s->d.mask);
	else
		snprintf(buf, size, s->d.val <= INT16_MAX ? "%" PRIu64 : "0x%" PRIx64, s->d.val);
	return buf;
}

/* "rdonly_mem_or_null" and the like. */
const char *kind_text(const struct reg *r, char *buf, size_t size)
{
	const char *text = kind_rows[r->kind].text;

	if (r->kind == KIND_NONE || r->kind == KIND_SCALAR)
		return text;
	if (r->kind == KIND_BTF) {
		snprintf(buf, size, "%s%s%s%s%sptr_%s", r->flags & RF_USER ? "user_" : "",
			 r->flags & RF_PERCPU ? "percpu_" : "", r->flags & RF_RCU ? "rcu_" : "",
			 r->flags & RF_UNTRUSTED ? "untrusted_" : "",
			 r->flags & RF_TRUSTED ? "trusted_" : "",
			 r->flags & RF_NULL ? "or_null_" : "");
		return buf;
	}
	snprintf(buf, size, "%s%s%s%s%s", r->flags & RF_RDONLY ? "rdonly_" : "",
		 r->flags & RF_RINGBUF ? "ringbuf_" : "", r->flags & RF_TRUSTED ? "trusted_" : "",
		 text, r->flags & RF_NULL ? "_or_null" : "");
	return buf;
}

static void log_items(struct ver *v, const struct reg *r, bool *first)
{
	if (r->id)
		note(v, "%sid=%u", comma(first), r->id & ~ID_PLUS_OFF);
	if (r->id & ID_PLUS_OFF)
		note(v, "%+d", r->off);
	if (r->ref)
		note(v, "%sref_obj_id=%u", comma(first), r->ref);
	if (reg_has(r, K_MAP) && r->map) {
		if (r->map->name[0])
			note(v, "%smap=%.16s", comma(first), r->map->name);
		note(v, "%sks=%u,vs=%u", comma(first), r->map->key_size, r->map->value_size);
	}
	if (r->kind != KIND_SCALAR && r->off) {
		note(v, "%soff=", comma(first));
		log_s(v, r->off);
	}
	if (reg_has(r, K_PKT)) {
		note(v, "%sr=", comma(first));
		log_u(v, (uint64_t)(int64_t)(int32_t)r->n);
	}
	if (r->kind == KIND_MEM) {
		note(v, "%ssz=", comma(first));
		log_u(v, r->n);
	}
	if (r->kind == KIND_DYNPTR)
		note(v, "%stype=%s", comma(first), dyn_text(r->dyn));
}

static void log_reg(struct ver *v, uint32_t frame, const struct reg *r)
{
	bool first = true, one = scalar_is_one(&r->s);
	char buf[64];

	if (r->kind == KIND_SCALAR && r->precise)
		note(v, "P");
	if (r->kind == KIND_SCALAR && one) {
		log_s(v, (int64_t)r->s.d.val);
		return;
	}
	note(v, "%s", kind_text(r, buf, sizeof(buf)));
	if (r->kind == KIND_BTF)
		note(v, "%s", typed_name(v, r->n));
	if (r->kind == KIND_STACK) {
		if (r->frame != frame)
			note(v, "[%u]", r->frame);
		if (one) {
			log_s(v, (int64_t)r->s.d.val + r->off);
			return;
		}
	}
	note(v, "(");
	log_items(v, r, &first);
	if (one) {
		if (r->s.d.val) {
			note(v, "%simm=", comma(&first));
			log_s(v, (int64_t)r->s.d.val);
		}
	} else {
		log_ranges(v, &r->s, &first);
		if (r->s.d.mask != UINT64_MAX)
			note(v, "%svar_off=(0x%" PRIx64 "; 0x%" PRIx64 ")", comma(&first),
			     r->s.d.val, r->s.d.mask);
	}
	note(v, ")");
}

/* A register of the running frame as the log has it, to `out`. */
void reg_text(struct ver *v, const struct reg *r, struct report *out)
{
	struct report *log = v->log;
	unsigned level = v->level;

	v->log = out;
	v->level = LOG_INSNS;
	log_reg(v, v->cur->top, r);
	v->log = log;
	v->level = level;
}

static void log_live(struct ver *v, uint8_t live)
{
	note(v, "%s%s%s%s", live ? "_" : "", live & LIVE_READ ? "r" : "",
	     live & LIVE_WRITTEN ? "w" : "", live & LIVE_DONE ? "D" : "");
}

static void log_slot(struct ver *v, uint32_t frame, uint32_t k, const struct slot *slot)
{
	static const char letter[] = { '?', 'r', 'm', '0', 'd', 'i' };
	char types[9] = "";
	bool any = false, part = false;

	for (int i = 0; i < 8; i++) {
		any |= slot->type[i] != SLOT_NONE;
		part |= slot->type[i] != SLOT_SPILL;
		types[i] = letter[slot->type[i]];
	}
	if (!any)
		return;
	note(v, " fp%d", -((int)k + 1) * 8);
	log_live(v, slot->spill.live);
	if (!slot_is_spill(slot)) {
		note(v, "=%s", types);
		return;
	}
	*strchr(types, 'r') = '\0';
	note(v, "=%s", part ? types : "");
	log_reg(v, frame, &slot->spill);
}

static void log_iter(struct ver *v, uint32_t k, const struct reg *r)
{
	note(v, " fp%d", -((int)k + 1) * 8);
	log_live(v, r->live);
	note(v, "=iter_%s(ref_id=%u,state=%s,depth=%u)", iter_name(r->iter), r->ref,
	     r->drained ? "drained" : "active", r->n);
}

static void log_dynptr(struct ver *v, uint32_t k, const struct reg *r)
{
	bool first = true;

	note(v, " fp%d", -((int)k + 1) * 8);
	log_live(v, r->live);
	note(v, "=dynptr_%s(", dyn_text(r->dyn));
	if (r->id)
		note(v, "%sid=%u", comma(&first), r->id);
	if (r->ref)
		note(v, "%sref_id=%u", comma(&first), r->ref);
	note(v, ")");
}

/* An object is printed once, for its first slot. */
static void log_place(struct ver *v, uint32_t frame, uint32_t k, const struct slot *s)
{
	if (!slot_is_dynptr(s) && !slot_is_iter(s))
		log_slot(v, frame, k, s);
	else if (s->spill.first && slot_is_iter(s))
		log_iter(v, k, &s->spill);
	else if (s->spill.first)
		log_dynptr(v, k, &s->spill);
}

void log_frame(struct ver *v, const struct state *s, uint32_t frame, bool all)
{
	const struct frame *f = s->frame[frame];

	if (frame)
		note(v, " frame%u:", frame);
	for (unsigned i = 0; i < BPF_REGS; i++) {
		if (f->r[i].kind == KIND_NONE || (!all && !(v->scratched >> i & 1)))
			continue;
		note(v, " R%u", i);
		log_live(v, f->r[i].live);
		note(v, "=");
		log_reg(v, frame, &f->r[i]);
	}
	for (uint32_t k = 0; k < f->n_slots; k++) {
		if (!all && !(v->scratched_slots >> k & 1))
			continue;
		log_place(v, frame, k, &f->slot[k]);
	}
	for (uint32_t i = 0; i < s->refs.n; i++)
		note(v, "%s%u", i ? "," : " refs=", s->refs.id[i]);
	if (f->callback)
		note(v, " cb");
	if (f->async)
		note(v, " async_cb");
	note(v, "\n");
	if (all)
		return;
	v->scratched = 0;
	v->scratched_slots = 0;
}

void log_state(struct ver *v, const struct state *s, bool all)
{
	log_frame(v, s, s->top, all);
}

/* What the last op changed, behind it on its line, or on a line of its own. */
void log_changes(struct ver *v)
{
	struct report *log = v->log;

	if (!(v->level & (LOG_INSNS | LOG_STATES)) || (!v->scratched && !v->scratched_slots))
		return;
	if (v->line_pos && v->line_pos == report_pos(log)) {
		size_t col = v->line_pos - v->line_start;
		size_t to =
		    col + COMMENT_TAB / 2 > COMMENT_COLUMN ? col + COMMENT_TAB / 2 : COMMENT_COLUMN;

		to = (to + COMMENT_TAB - 1) / COMMENT_TAB * COMMENT_TAB;
		report_cut(log, v->line_pos - 1);
		note(v, "%*s;", (int)(to - col - 1), "");
	} else {
		note(v, "%u:", slot_of(v, v->op));
	}
	log_state(v, v->cur, false);
}

/* The source line of the running op, when it is not the one that was printed last. */
void log_source(struct ver *v)
{
	const struct line *l = unit_line_of(v->u, v->op);
	const char *file, *text;

	if (!l || l == v->line || !l->text)
		return;
	if (v->line && v->line->file == l->file && v->line->line == l->line)
		return;
	v->line = l;
	file = l->file ? strrchr(l->file, '/') : NULL;
	for (text = l->text; *text == ' ' || *text == '\t'; text++)
		;
	note(v, "; %s @ %s:%u\n", text, file ? file + 1 : l->file ? l->file : "", l->line);
}

/* The line of the op that runs next, with what led to it. */
void log_insn(struct ver *v)
{
	struct unit bare = *v->u; /* the kernel's log has no names of functions */
	char text[256];

	if (!(v->level & (LOG_INSNS | LOG_STATES)))
		return;
	if (v->print_all) {
		note(v, "\nfrom %u to %u:", slot_of(v, v->prev), slot_of(v, v->op));
		log_state(v, v->cur, true);
		v->print_all = false;
		v->line_pos = 0;
	}
	log_changes(v);
	log_source(v);
	v->line_start = log_here(v);
	bare.sub_names = NULL;
	op_print(&bare, v->op, PRINT_KERNEL, text, sizeof(text));
	note(v, "%u: %s\n", slot_of(v, v->op), text);
	v->line_pos = log_here(v);
}

/* Forgets what a path that turned out safe has printed. */
void log_reset(struct ver *v, size_t pos)
{
	if (!v->log || v->level & LOG_STATES || !(v->level & LOG_INSNS))
		return;
	report_cut(v->log, pos);
	v->line_pos = 0;
}
