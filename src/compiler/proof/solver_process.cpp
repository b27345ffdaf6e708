#include "compiler/proof/solver_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "process/child.h"

namespace proof {

namespace {

using Clock = std::chrono::steady_clock;
using process::Descriptor;
using process::write_all;

constexpr int memory_mb = 1024;

bool is_program(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

void end_child(pid_t child) {
  ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);  // it may not have reached its group yet
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

SolverProcess::End read_reply(int from, Clock::time_point deadline, std::string& text) {
  char buffer[1 << 14];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return SolverProcess::End::late;
    pollfd ready{from, POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::min<long long>(left, 1000)));
    if (count < 0 && errno != EINTR) return SolverProcess::End::failed;
    if (count <= 0) continue;
    const ssize_t got = ::read(from, buffer, sizeof buffer);
    if (got == 0) return SolverProcess::End::answered;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SolverProcess::End::failed;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > SolverProcess::longest_reply) return SolverProcess::End::too_long;
  }
}

}  // namespace

SolverProcess::SolverProcess(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    if (is_program(program)) path_ = program;
    return;
  }
  const char* folders = std::getenv("PATH");
  std::string_view left = folders == nullptr ? "" : folders;
  while (!left.empty()) {
    const std::string_view folder = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(folder.size() + 1, left.size()));
    if (!folder.starts_with('/')) continue;
    const std::string path = fmt::format("{}/{}", folder, program);
    if (is_program(path)) {
      path_ = path;
      return;
    }
  }
}

SolverProcess::Reply SolverProcess::ask(const std::string& script, double seconds) const {
  Reply reply;
  if (!is_there()) return reply;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  // The script lies in memory, not in a pipe: whether the child reads it or not, we never wait for that.
  const Descriptor input(::memfd_create("smt2", MFD_CLOEXEC));
  if (input.number() < 0 || !write_all(input.number(), script) || ::lseek(input.number(), 0, SEEK_SET) != 0)
    return reply;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return reply;
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  const pid_t child = process::spawn(
      path_,
      {"z3", "-smt2", "-in", fmt::format("-T:{:.0f}", std::ceil(seconds) + 1), fmt::format("-memory:{}", memory_mb)},
      input.number(), to.number(), process::Messages::nowhere);
  if (child < 0) return reply;
  to.close();
  reply.end = read_reply(from.number(), deadline, reply.text);
  end_child(child);
  return reply;
}

}  // namespace proof
