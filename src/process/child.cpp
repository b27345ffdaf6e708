#include "process/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace process {
pid_t spawn(const std::string& program, std::vector<std::string> words, int input, int output, Messages messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (messages == Messages::nowhere)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGXFSZ}) sigaddset(&usual, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  const sched_param ordinary = {};
  posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER);
  posix_spawnattr_setschedparam(&attributes, &ordinary);
  posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSCHEDULER);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const bool is_started = posix_spawn(&child, program.c_str(), &actions, &attributes, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return is_started ? child : -1;
}

void Descriptor::reset(int number) {
  if (number_ >= 0) ::close(number_);
  number_ = number;
}

bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Child::Child(const std::vector<std::string>& words, const std::string& program) {
  int input[2], output[2];
  if (::pipe2(input, O_CLOEXEC) != 0) return;
  const Descriptor input_end(input[0]);
  to_.reset(input[1]);
  if (::pipe2(output, O_CLOEXEC) != 0) return;
  from_.reset(output[0]);
  const Descriptor output_end(output[1]);
  std::vector<std::string> all = {"tactus"};
  all.insert(all.end(), words.begin(), words.end());
  pid_ = spawn(program, std::move(all), input_end.number(), output_end.number(), Messages::ours);
}

Child::~Child() {
  if (!is_started()) return;
  kill();
  (void)wait();
}

void Child::kill() {
  const std::lock_guard lock(ending_);
  if (is_started() && !has_ended_) ::kill(pid_, SIGKILL);
}

int Child::wait(std::optional<Clock::time_point> deadline) {
  siginfo_t info = {};
  const auto has_ended = [&](int how) {
    info.si_pid = 0;
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | how) == 0 && info.si_pid == pid_;
  };
  {
    const std::lock_guard lock(ending_);
    if (has_ended_ || !is_started()) return status_;
  }
  while (deadline && !has_ended(WNOHANG)) {
    if (Clock::now() >= *deadline) kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  while (!has_ended(0) && errno == EINTR) {
  }
  const std::lock_guard lock(ending_);
  if (!has_ended_) {
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    has_ended_ = true;
  }
  return status_;
}

std::string ending_in_words(int status, double cpu_seconds) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    if (number == SIGXCPU) return fmt::format("it took more than {:g} s", cpu_seconds);
    return fmt::format("it crashed ({})", ::strsignal(number));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == out_of_memory_code) return "it ran out of memory";
  return fmt::format("it ended with code {}", WIFEXITED(status) ? WEXITSTATUS(status) : status);
}

}  // namespace process
