// The JSON reader of the toolkit's own files.
#include <gtest/gtest.h>

#include "runtime/support/json.h"

namespace {

TEST(RuntimeJson, ReadsWhatTheKernelCompilerWrites) {
  const auto value = dav::json::parse(
      R"({"name": "a\"b", "list": [1, -2.5e3, true, null], "empty": {}, "none": []})");
  EXPECT_EQ(value.at("name").text(), "a\"b");
  ASSERT_EQ(value.at("list").items.size(), 4u);
  EXPECT_EQ(value.at("list").items[0].integer(), 1);
  EXPECT_EQ(value.at("list").items[1].text(), "-2.5e3");
  EXPECT_EQ(value.at("list").items[2].text(), "true");
  EXPECT_EQ(value.at("list").items[3].type, dav::json::Value::Type::Null);
  EXPECT_TRUE(value.at("empty").members.empty());
  EXPECT_EQ(value.find("absent"), nullptr);
  EXPECT_THROW(value.at("absent"), std::runtime_error);
}

TEST(RuntimeJson, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "\"open", "{} x", "{\"a\": \\u0041}"}) {
    EXPECT_THROW(dav::json::parse(text), std::runtime_error) << text;
  }
}

}  // namespace
