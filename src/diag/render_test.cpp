#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "diag/sink.h"

namespace diag {
namespace {

constexpr Kind<std::string_view> undetermined{"X002", "no equation determines `{}`"};
constexpr Kind<> doubtful{"X003", "this is doubtful", Severity::warning};

// A span over the first `wanted`.
base::Span span_of(const SourceMap& sources, std::string_view wanted) {
  const std::size_t begin = sources.text(0).find(wanted);
  return {0, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + wanted.size())};
}

TEST(SourceMap, CountsLinesFromOneAndColumnsInCodePoints) {
  SourceMap sources;
  sources.add("a.tact", "ab\nα x\r\n\nend");
  EXPECT_EQ(sources.position(0, 0).line, 1u);
  EXPECT_EQ(sources.position(0, 0).column, 1u);
  EXPECT_EQ(sources.position(0, 2).column, 3u);  // at the line break
  EXPECT_EQ(sources.position(0, 3).line, 2u);
  EXPECT_EQ(sources.position(0, 5).column, 2u);  // α is two bytes
  EXPECT_EQ(sources.position(0, 6).column, 3u);
  EXPECT_EQ(sources.line(0, 2), "α x");  // without the carriage return
  EXPECT_EQ(sources.line(0, 3), "");
  EXPECT_EQ(sources.line(0, 4), "end");
  EXPECT_EQ(sources.line(0, 5), "");
  EXPECT_EQ(sources.position(0, 1000000).line, 4u);
  EXPECT_EQ(sources.position(0, 1000000).column, 4u);
}

TEST(RenderText, ShowsTheLineACaretAndHints) {
  SourceMap sources;
  sources.add("tank.tact", "system\n  level' = inflow;\n");
  Sink sink;
  sink.report(span_of(sources, "inflow"), undetermined, "inflow")
      .hint("add an equation for `{}`", "inflow")
      .related(span_of(sources, "level'"), "used here");
  EXPECT_EQ(render_text(sink, sources, false),
            "tank.tact:2:12: error[X002]: no equation determines `inflow`\n"
            "  2 |   level' = inflow;\n"
            "    |            ^~~~~~\n"
            "  note: tank.tact:2:3: used here\n"
            "  2 |   level' = inflow;\n"
            "    |   ^~~~~~\n"
            "  hint: add an equation for `inflow`\n");
}

TEST(RenderText, OrdersByFileThenPlace) {
  SourceMap sources;
  sources.add("a.tact", "one two");
  sources.add("b.tact", "three");
  Sink sink;
  sink.report({1, 0, 5}, undetermined, "c");
  sink.report({0, 4, 7}, undetermined, "b");
  sink.report({0, 0, 3}, doubtful);
  const std::string text = render_text(sink, sources, false);
  EXPECT_LT(text.find("a.tact:1:1: warning[X003]"), text.find("a.tact:1:5: error[X002]"));
  EXPECT_LT(text.find("a.tact:1:5"), text.find("b.tact:1:1"));
}

TEST(RenderText, ExpandsTabsAndCountsCodePoints) {
  SourceMap sources;
  sources.add("a.tact", "\tgröße\t= bad;");
  Sink sink;
  sink.report(span_of(sources, "bad"), doubtful);
  EXPECT_EQ(render_text(sink, sources, false),
            "a.tact:1:10: warning[X003]: this is doubtful\n"
            "  1 |     größe   = bad;\n"
            "    |               ^~~\n");
}

TEST(RenderText, MarksOnlyTheFirstLineOfALongSpan) {
  SourceMap sources;
  sources.add("a.tact", "ab (c\nd) e");
  Sink sink;
  sink.report({0, 3, 8}, doubtful);
  EXPECT_NE(render_text(sink, sources, false).find("  1 | ab (c\n    |    ^~\n"), std::string::npos);
}

TEST(RenderText, AcceptsSpansAtAndBeyondTheEnd) {
  for (const std::string text : {"", "x", "x\n", "x\r\n", "\n\n"}) {
    SourceMap sources;
    sources.add("a.tact", text);
    const auto size = static_cast<std::uint32_t>(text.size());
    Sink sink;
    sink.report({0, size, size}, doubtful);
    sink.report({0, size + 7, size + 9}, doubtful);
    sink.report({0, size, 0}, doubtful);
    sink.report({7, 0, 1}, doubtful);
    EXPECT_NE(render_text(sink, sources, false).find("this is doubtful"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(render_json(sink, sources)).size(), 4u);
  }
}

TEST(RenderText, NamesAFileWithoutTextWithoutLine) {
  SourceMap sources;
  sources.add("gone.tact", "");
  Sink sink;
  sink.report({0, 0, 0}, doubtful);
  EXPECT_EQ(render_text(sink, sources, false), "gone.tact: warning[X003]: this is doubtful\n");
}

TEST(RenderText, ShowsAWindowOfAVeryLongLine) {
  SourceMap sources;
  std::string line(10'000'000, 'a');
  line.replace(5'000'000, 3, "BAD");
  sources.add("a.tact", line);
  Sink sink;
  sink.report({0, 5'000'000, 5'000'003}, doubtful);
  const std::string text = render_text(sink, sources, false);
  EXPECT_LT(text.size(), 600u);
  EXPECT_NE(text.find("…aaa"), std::string::npos);
  EXPECT_NE(text.find("BAD"), std::string::npos);
  // The caret stands under the B: both are 51 columns behind the bar.
  const std::size_t shown = text.find(" | …");
  const std::size_t mark = text.find(" |  ", shown);
  EXPECT_EQ(text.find("BAD") - (shown + 6), text.find('^') - (mark + 4));
}

TEST(RenderText, ReplacesControlCharactersAndInvalidBytes) {
  SourceMap sources;
  sources.add("a.tact", "x\x1b[31m\xff y");
  Sink sink;
  sink.report({0, 0, 1}, doubtful);
  const std::string text = render_text(sink, sources, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_NE(render_text(sink, sources, true).find("\x1b[1;33m"), std::string::npos);
}

TEST(RenderJson, GivesBothEndsOfASpan) {
  SourceMap sources;
  sources.add("a\xff.tact", "α = (1\n+ 2);");
  Sink sink;
  sink.report(span_of(sources, "(1\n+ 2)"), undetermined, "α").hint("h").related({0, 0, 2}, "r");
  const nlohmann::json json = nlohmann::json::parse(render_json(sink, sources));
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["code"], "X002");
  EXPECT_EQ(json[0]["severity"], "error");
  EXPECT_EQ(json[0]["line"], 1);
  EXPECT_EQ(json[0]["column"], 5);
  EXPECT_EQ(json[0]["end_line"], 2);
  EXPECT_EQ(json[0]["end_column"], 5);
  EXPECT_EQ(json[0]["text"], "no equation determines `α`");
  EXPECT_EQ(json[0]["hints"][0], "h");
  EXPECT_EQ(json[0]["related"][0]["text"], "r");
}

TEST(Sink, KeepsAsManyAsItsLimitAndCountsTheRest) {
  Sink sink(2);
  for (int i = 0; i < 5; ++i) sink.report({}, undetermined, "x").hint("dropped with its diagnostic");
  sink.report({}, doubtful);
  EXPECT_EQ(sink.error_count(), 5u);
  EXPECT_EQ(sink.dropped(), 3u);
  EXPECT_EQ(sink.diagnostics().size(), 3u);
  EXPECT_TRUE(sink.has_errors());
}

TEST(Sink, KeepsOneOfManyThatDifferInTheirInstanceOnly) {
  SourceMap sources;
  sources.add("legs.tact", "F = k;\nF = d;\n");
  Sink sink;
  for (int i = 1; i <= 100; ++i) sink.report({0, 0, 1}, undetermined, fmt::format("leg[{}].foot.F", i)).hint("h");
  sink.report({0, 0, 1}, undetermined, "left.F");
  sink.report({0, 0, 1}, undetermined, "leg[7].foot.F");  // the same once more
  sink.report({0, 0, 1}, undetermined, "left.G");         // another name
  sink.report({0, 7, 8}, undetermined, "leg[1].foot.F");  // another place
  EXPECT_EQ(sink.diagnostics().size(), 3u);
  EXPECT_EQ(sink.diagnostics()[0].repeated, 100u);
  EXPECT_EQ(sink.diagnostics()[0].hints.size(), 1u);
  EXPECT_EQ(sink.dropped(), 0u);
  EXPECT_NE(render_text(sink, sources, false).find("`leg[1].foot.F`"), std::string::npos);
  EXPECT_NE(render_text(sink, sources, false).find("  note: and 100 more like it\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(render_json(sink, sources))[0]["repeated"], 100);
}

TEST(Sink, TakesAFullStopForNoPath) {
  Sink sink;
  sink.report({0, 0, 1}, undetermined, "0.5 of a");
  sink.report({0, 0, 1}, undetermined, "0.5 of b");
  EXPECT_EQ(sink.diagnostics().size(), 2u);
}

// Working out a hint may report something else.
TEST(Sink, AHintFindsItsDiagnosticBehindOthers) {
  Sink sink;
  auto first = sink.report({0, 0, 1}, undetermined, "first");
  for (std::uint32_t i = 1; i < 15; ++i) sink.report({0, i, i + 1}, undetermined, "other");
  first.hint("of the {}", "first");
  ASSERT_EQ(sink.diagnostics()[0].hints.size(), 1u);
  EXPECT_EQ(sink.diagnostics()[0].hints[0], "of the first");
}

constexpr Kind<std::string> quoting{"X900", "`{}` is in 1/s"};

TEST(Sink, AQuotationOverLinesIsOneLine) {
  Sink sink;
  sink.report({0, 0, 0}, quoting, "10 [Hz\n]");
  ASSERT_EQ(sink.diagnostics().size(), 1u);
  EXPECT_EQ(sink.diagnostics()[0].text, "`10 [Hz ]` is in 1/s");
}

}  // namespace
}  // namespace diag
