// Inside a child (child.h) that works for its parent: it stays within bounds, and ends with its parent.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace process {

// Of a piece of work: one edit, one request. Far above what the largest model of the examples needs.
inline constexpr double longest_work = 10;                        // s of the processor
inline constexpr std::size_t most_memory = std::size_t{2} << 30;  // bytes, beyond what the program has when it begins

// Once, at the beginning: bounds memory, takes less of the processor than who runs a world, writes no core file, and
// ends this process when the parent closes our standard input, whatever is being done then. Running out of memory ends
// it with `out_of_memory_code`.
void become_worker();

// The next piece of work may take so many seconds of the processor from now on; then the system ends this process.
void begin_work(double seconds);

// For tests of what happens then: TACTUS_WORKER_TRAP="crash:WORD hang:WORD .." makes a worker do that when the text it
// is given holds the word. Kinds: crash, abort, stack, memory, hang (of the processor), sleep (for ever), check.
// TACTUS_WORKER_SECONDS: another `longest_work`. `phase` stands before the kind: "optimising-hang:WORD".
void spring_traps(std::string_view text, std::string_view phase = {});

// A worker's `longest_work`, unless a test wants another.
[[nodiscard]] double work_seconds();

// Messages with their length in front, as 8 bytes. False at the end of the stream, or of a length beyond
// `longest_message`.
inline constexpr std::size_t longest_message = std::size_t{64} << 20;
[[nodiscard]] bool write_message(int to, std::string_view message);
[[nodiscard]] bool read_message(int from, std::string& message);

}  // namespace process
