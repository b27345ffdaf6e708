// How much a browser may ask of the server (docs/server.md shows them as a table).
#pragma once

#include <cstddef>
#include <cstdint>

namespace server {

// Enter.
inline constexpr std::size_t max_connections =
    32;                                        // of those who are in; what they open beyond counts with the strangers
inline constexpr std::size_t max_sockets = 8;  // besides
inline constexpr std::size_t max_strangers =
    32;  // connections that showed no cookie yet; one more ends the oldest of them
inline constexpr std::uint32_t max_header_bytes = 16 * 1024;
inline constexpr std::size_t max_target_bytes = 2048;
inline constexpr std::size_t max_message_bytes = std::size_t{1} << 20;

// Leave. Besides what waits, one message or frame is on its way.
inline constexpr std::size_t max_waiting_messages = 256;
inline constexpr std::size_t max_waiting_bytes = std::size_t{16} << 20;
inline constexpr std::size_t max_waiting_frames = 1;
inline constexpr std::size_t max_file_bytes = std::size_t{64} << 20;

inline constexpr std::size_t max_tokens = 16;

}  // namespace server
