/* A failed call of the kernel -> words: what happened, when, where in the model's text, with which values. The host and
 * the main of exported C both tell it by these, so that they tell the same. Freestanding C, no allocation; a text that
 * does not fit is cut. */
#ifndef TACTUS_WORDS_FAILURE_H
#define TACTUS_WORDS_FAILURE_H

#include "abi/model.h"
#include "kernel/kernel.h"
#include "words/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "ok", "not_finite", "diverged", ..; "unknown" for what is no tactus_status. */
const char* tk_status_name(int status);

/* Events that are heard of at most while it is tried out which of them follow one another without end. */
enum { TK_MOST_HEARD = 512 };
typedef struct tk_heard {
  uint32_t count;
  uint32_t events[TK_MOST_HEARD];
} tk_heard;

/* A table that notes which events fire, or at which instant and states the derivative was asked for last. */
typedef struct tk_listening {
  tactus_model table; /* first: what its functions are given is its address */
  const tactus_model* inner;
  tk_heard* heard;
  double* states;
  double time;
  int32_t is_asked;
} tk_listening;

/* Bytes, aligned to 8, in which the last instant is tried out again: for a model of so many structures, doubles
 * (layout.size) and states. */
#define TK_WORDS_ROOM(structure_count, doubles, state_count)                                                        \
  (sizeof(tk_heard) + 8 + sizeof(tactus_model) + ((structure_count) + 1) * (sizeof(tk_listening) + sizeof(void*)) + \
   sizeof(tactus_instance) + 8 * ((uint64_t)(doubles) + (uint64_t)(state_count)))
static inline uint64_t tk_words_room(const tactus_model* model) {
  return TK_WORDS_ROOM(model->structure_count, model->layout.size, model->state_count);
}

/* `instance` as the failing call left it. is_starting: it failed before the first step. room: tk_words_room bytes, or
 * null; then it is not found out which events follow one another without end. Returns the line of the model's text, or
 * 0. */
uint32_t tk_describe_failure(const tactus_model* model, const tactus_instance* instance, int status, int is_starting,
                             void* room, tk_text* text, tk_text* hint);
/* After a fixed step of length h that failed in a block: the instant at which it did, and into *states those there,
 * which lie in `room`. 0 when it is not found. */
int tk_find_failed_evaluation(const tactus_model* model, const tactus_instance* instance, int solver, double h,
                              void* room, double* time, const double** states);
/* A delay that lasts `duration` and cannot be run: with fixed steps of `step` none may be shorter. */
void tk_describe_short_delay(const tactus_model* model, double duration, double step, tk_text* text, tk_text* hint);

/* What a run that goes on, or ends well, notes. */
void tk_note_stop(const tactus_model* model, const tactus_instance* instance, tk_text* text);
void tk_note_expectations(const tactus_instance* instance, tk_text* text);
void tk_note_failed_plan(const tactus_instance* instance, tk_text* text);
void tk_note_tie(const tactus_model* model, const tk_tie_told* told, tk_text* text);
/* A `check` that was broken: "by t = 1 (line 3): x < 2". */
void tk_note_check(const tactus_model* model, uint32_t event, double time, tk_text* text);
void tk_note_stiffness(const tactus_instance* instance, int solver, tk_text* text);

#ifdef __cplusplus
}
#endif

#endif
