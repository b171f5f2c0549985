// Whether a sanitizer watches this build's memory: it has the heap then, and knows the stacks that it was told of alone.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ASSAY_SANITIZED 1
#endif
#endif
#ifndef ASSAY_SANITIZED
#define ASSAY_SANITIZED 0
#endif
