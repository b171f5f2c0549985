// What a test says of calls that must throw.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <vector>

namespace assay {

// The message of what `call` throws, an Error; fails the test where it throws none.
template <class Error = std::exception, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}

inline void expect_mentions(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks " << part;
}

}  // namespace assay
