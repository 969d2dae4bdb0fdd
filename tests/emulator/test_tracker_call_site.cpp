// Where in the kernel: this file plays the kernel, the emulator library captures.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "core/call_site.h"

namespace dav_test {

using dav::capture_site;
using dav::describe_site;

__attribute__((noinline)) uint32_t inner_step(int* line) {
  *line = __LINE__ + 1;
  const uint32_t site = capture_site();
  asm volatile("" ::: "memory");  // no tail call
  return site;
}

__attribute__((always_inline)) inline uint32_t inlined_step(int* line) { return inner_step(line); }

__attribute__((noinline)) uint32_t outer_step(int* inner_line, int* outer_line) {
  *outer_line = __LINE__ + 1;
  const uint32_t site = inlined_step(inner_line);
  asm volatile("" ::: "memory");
  return site;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

bool names(const std::string& line, int number, const char* function) {
  return line.find("test_tracker_call_site.cpp:" + std::to_string(number) + " ") !=
             std::string::npos &&
         line.find(function) != std::string::npos;
}

TEST(CallSite, NamesFileLineAndFunctionInnermostFirst) {
  int inner = 0;
  int outer = 0;
  const uint32_t site = outer_step(&inner, &outer);
  ASSERT_NE(site, 0u);
  const std::vector<std::string> lines = lines_of(describe_site(site));
  ASSERT_GE(lines.size(), 3u);
  EXPECT_TRUE(names(lines[0], inner, "inner_step")) << lines[0];
  EXPECT_NE(lines[1].find("inlined_step"), std::string::npos) << lines[1];
  EXPECT_TRUE(names(lines[2], outer, "outer_step")) << lines[2];
}

TEST(CallSite, EqualStacksHaveOneNumberOthersAnother) {
  int line = 0;
  int outer = 0;
  uint32_t found[3] = {};
#pragma GCC unroll 1
  for (uint32_t& site : found) site = outer_step(&line, &outer);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  EXPECT_NE(inner_step(&line), found[0]);
}

TEST(CallSite, UnknownNumbersDescribeNothing) {
  EXPECT_EQ(describe_site(0), "");
  EXPECT_EQ(describe_site(0xfffffff0u), "");
}

TEST(CallSite, TheWalkStaysInsideTheStackItWasGiven) {
  int line = 0;
  alignas(16) char elsewhere[64] = {};
  dav::set_call_stack(elsewhere, elsewhere + sizeof elsewhere);
  EXPECT_EQ(inner_step(&line), 0u);
  dav::set_call_stack(nullptr, nullptr);
  EXPECT_NE(inner_step(&line), 0u);
}

TEST(CallSite, ThreadsShareTheNumbers) {
  std::vector<uint32_t> found(4);
  std::vector<std::thread> threads;
  for (uint32_t& site : found) {
    threads.emplace_back([&site] {
      int line = 0;
      for (int i = 0; i < 1000; ++i) site = inner_step(&line);
    });
  }
  for (std::thread& t : threads) t.join();
  for (const uint32_t site : found) EXPECT_EQ(site, found[0]);
  EXPECT_NE(found[0], 0u);
}

}  // namespace dav_test
