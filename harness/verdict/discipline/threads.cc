#include "harness/verdict/discipline/threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include "harness/verdict/discipline/sanitized.h"

namespace {

thread_local std::uint64_t started = 0;

}  // namespace

std::uint64_t assay::threads_started() {
  return started;
}

#if !ASSAY_SANITIZED

extern "C" [[gnu::weak]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                                            void* argument) noexcept {
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  const int error = create(thread, attributes, body, argument);
  started += error == 0 ? 1 : 0;
  return error;
}

#endif
