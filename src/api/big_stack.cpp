#include "api/big_stack.h"

#include <pthread.h>

#include <exception>

namespace api {
namespace {

struct Job {
  const std::function<void()>* function;
  std::exception_ptr thrown;
};

void* run_job(void* argument) {
  auto* job = static_cast<Job*>(argument);
  try {
    (*job->function)();
  } catch (...) {
    job->thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_with_big_stack(const std::function<void()>& function) {
  Job job{&function, nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  bool started = pthread_attr_setstacksize(&attributes, big_stack_bytes) == 0 &&
                 pthread_create(&thread, &attributes, run_job, &job) == 0;
  pthread_attr_destroy(&attributes);
  if (started) {
    pthread_join(thread, nullptr);
  } else {
    run_job(&job);
  }
  if (job.thrown) std::rethrow_exception(job.thrown);
}

}  // namespace api
