#include "runtime/trace/figure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <random>
#include <sstream>

#include "runtime/trace/figure_text.h"

namespace trace {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The bytes of the figure as a file of the given kind.
std::string render(const Figure& figure, const std::string& extension) {
  std::string path = testing::TempDir() + "tactus_figure_" + std::to_string(::getpid()) + "." + extension;
  std::string failure;
  EXPECT_TRUE(write_figure(figure, path, failure)) << failure;
  std::string bytes = contents(path);
  ::unlink(path.c_str());
  return bytes;
}

// Owns the data of curves.
class Channels {
 public:
  explicit Channels(std::size_t rows = 500, double end = 10) {
    for (std::size_t i = 0; i < rows; ++i)
      times_.push_back(end * static_cast<double>(i) / static_cast<double>(rows - 1));
  }
  template <class Function>
  Channels& add(std::string name, std::string unit, Function function) {
    std::vector<double>& ys = data_.emplace_back();
    for (double t : times_) ys.push_back(function(t));
    curves_.push_back({std::move(name), std::move(unit), times_, ys});
    return *this;
  }
  const std::vector<Curve>& curves() const { return curves_; }

 private:
  std::vector<double> times_;
  std::deque<std::vector<double>> data_;
  std::vector<Curve> curves_;
};

std::vector<std::vector<std::string>> panel_names(const Figure& figure) {
  std::vector<std::vector<std::string>> names;
  for (const Panel& panel : figure.panels) {
    names.emplace_back();
    for (const Curve& curve : panel.curves) names.back().push_back(curve.name);
  }
  return names;
}

auto wave(double amplitude) {
  return [amplitude](double t) { return amplitude * std::sin(t); };
}

using Names = std::vector<std::vector<std::string>>;

TEST(LayoutPanels, ComponentsOfAVectorShareAPanel) {
  Channels channels;
  channels.add("p[1]", "m", wave(1))
      .add("s", "m", wave(1))
      .add("p[2]", "m", wave(1e-6))
      .add("A[1,1]", "", wave(1))
      .add("A[1,2]", "", wave(1));
  Figure figure = layout_panels(channels.curves());
  EXPECT_EQ(panel_names(figure), (Names{{"p[1]", "p[2]"}, {"s"}, {"A[1,1]", "A[1,2]"}}));
  EXPECT_EQ(figure.panels[0].y_label, "p [m]");
  EXPECT_EQ(figure.panels[1].y_label, "s [m]");
  EXPECT_EQ(figure.panels[2].y_label, "A");
  EXPECT_EQ(figure.note, "");
}

TEST(LayoutPanels, ScalarsOfOneUnitAndSimilarRangeShareAPanel) {
  Channels channels;
  channels.add("x", "m", wave(1)).add("v", "m/s", wave(1)).add("y", "m", wave(3)).add("z", "m", wave(1000));
  channels.add("zero", "m", [](double) { return 0.0; });
  Figure figure = layout_panels(channels.curves());
  EXPECT_EQ(panel_names(figure), (Names{{"x", "y", "zero"}, {"v"}, {"z"}}));
  EXPECT_EQ(figure.panels[0].y_label, "x, y, zero [m]");
}

TEST(LayoutPanels, AtMostFiveScalarsInAPanel) {
  Channels channels;
  for (char name = 'a'; name <= 'g'; ++name) channels.add(std::string(1, name), "", wave(1));
  EXPECT_EQ(panel_names(layout_panels(channels.curves())), (Names{{"a", "b", "c", "d", "e"}, {"f", "g"}}));
}

TEST(LayoutPanels, WhatDoesNotFitIsNamedAndConstantsGoFirst) {
  Channels channels;
  channels.add("c", "kg", [](double) { return 5.0; });
  for (int i = 0; i < 8; ++i) channels.add("x" + std::to_string(i), "u" + std::to_string(i), wave(1));
  Figure figure = layout_panels(channels.curves());
  EXPECT_EQ(panel_names(figure), (Names{{"x0"}, {"x1"}, {"x2"}, {"x3"}, {"x4"}, {"x5"}}));
  EXPECT_EQ(figure.note, "Not shown: c, x6, x7.");
}

TEST(LayoutPanels, SimilarityIsRelaxedBeforeAnythingIsLeftOut) {
  Channels channels;
  for (int i = 0; i < 8; ++i) channels.add("x" + std::to_string(i), "", wave(std::pow(10.0, i)));
  Figure figure = layout_panels(channels.curves());
  EXPECT_EQ(figure.panels.size(), 4u);
  EXPECT_EQ(figure.note, "");
}

TEST(LayoutPanels, NothingAndThousandsOfChannels) {
  EXPECT_TRUE(layout_panels({}).panels.empty());
  Channels channels(10);
  for (int i = 0; i < 3000; ++i) channels.add("cell" + std::to_string(i), "u" + std::to_string(i), wave(1));
  Figure figure = layout_panels(channels.curves());
  EXPECT_EQ(figure.panels.size(), 6u);
  EXPECT_NE(figure.note.find("cell15 and 2984 more."), std::string::npos) << figure.note;
}

TEST(AxisLabel, NameAndUnit) {
  EXPECT_EQ(axis_label("p", "m"), "p [m]");
  EXPECT_EQ(axis_label("p", ""), "p");
  EXPECT_EQ(axis_label("", "N*m"), "[N\u00b7m]");
}

TEST(WriteFigure, EveryKindOfFileIsOfItsKind) {
  Channels channels;
  channels.add("p[1]", "m", wave(1)).add("p[2]", "m", [](double t) { return std::cos(t); });
  Figure figure = layout_panels(channels.curves());
  EXPECT_EQ(render(figure, "png").substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(render(figure, "pdf").substr(0, 5), "%PDF-");
  EXPECT_NE(render(figure, "svg").find("<svg"), std::string::npos);
  EXPECT_EQ(render(figure, "PNG").substr(1, 3), "PNG");
}

TEST(WriteFigure, AnSvgHoldsItsLabelsAsText) {
  Channels channels;
  channels.add("p[1]", "m", wave(1))
      .add("p[2]", "m", [](double t) { return std::cos(t); })
      .add("tiny", "m/s^2", wave(2e-9));
  Figure figure = layout_panels(channels.curves());
  figure.title = "A < B & C";
  figure.note = "a note";
  std::string svg = render(figure, "svg");
  for (const char* text : {">t [s]<", ">p [m]<", ">p[1]<", ">p[2]<", ">tiny [m/s^2]<", ">\u00d710^-9<", ">10<",
                           ">\u22121<", ">a note<", "<title>A &lt; B &amp; C</title>"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
}

TEST(WriteFigure, MillionsOfPointsStaySmall) {
  Channels channels(1'000'000, 3600);
  std::mt19937 random(1);
  std::normal_distribution<double> noise;
  for (int i = 0; i < 4; ++i) channels.add("n" + std::to_string(i), "V", [&](double) { return noise(random); });
  std::string svg = render(layout_panels(channels.curves()), "svg");
  EXPECT_LT(svg.size(), 500'000u);
}

TEST(WriteFigure, ManyNoisyCurvesStaySmall) {
  Channels channels(20'000);
  std::mt19937 random(1);
  std::normal_distribution<double> noise;
  for (int panel = 0; panel < 6; ++panel) {
    for (int i = 1; i <= 8; ++i) {
      channels.add("v" + std::to_string(panel) + "[" + std::to_string(i) + "]", "",
                   [&](double) { return noise(random); });
    }
  }
  EXPECT_LT(render(layout_panels(channels.curves()), "svg").size(), 600'000u);
}

TEST(WriteFigure, DegenerateDataIsDrawn) {
  std::vector<double> one = {2}, all_nan = {NAN, NAN}, times = {0, 1}, constant = {5, 5}, huge = {-1e308, 1e308},
                      large = {-9e299, 9e299};
  std::vector<double> subnormal = {5e-324, 1e-323}, backwards = {1, 0};
  for (Curve curve : std::vector<Curve>{{"one", "", one, one},
                                        {"none", "", {}, {}},
                                        {"nan", "", times, all_nan},
                                        {"c", "", times, constant},
                                        {"huge", "", times, huge},
                                        {"large", "", times, large},
                                        {"sub", "", times, subnormal},
                                        {"back", "", backwards, times},
                                        {"ragged", "", times, one},
                                        {"t", "", all_nan, times},
                                        {"\xff bad \x01 name", "\xc3", times, times}}) {
    Figure figure = layout_panels({&curve, 1});
    EXPECT_GT(render(figure, "svg").size(), 500u) << curve.name;
    EXPECT_GT(render(figure, "png").size(), 500u) << curve.name;
  }
  EXPECT_NE(render(Figure{}, "svg").find(">no data<"), std::string::npos);
}

TEST(WriteFigure, SmallPagesAndLongTextsAreDrawn) {
  Channels channels;
  channels.add(std::string(300, 'x'), std::string(100, 'u'), wave(1))
      .add(std::string(300, 'y'), std::string(100, 'u'), wave(1));
  Figure figure = layout_panels(channels.curves());
  figure.title = std::string(500, 'T');
  figure.note = std::string(5000, 'n');
  figure.width = 10;
  figure.height = 10;
  EXPECT_GT(render(figure, "png").size(), 500u);
}

TEST(WriteFigure, FailuresSayWhy) {
  std::string failure;
  EXPECT_FALSE(write_figure(Figure{}, "a.jpg", failure));
  EXPECT_EQ(failure, "cannot write `a.jpg`: unknown kind of picture; end the name in .svg, .pdf or .png");
  EXPECT_FALSE(can_write_figure("plot", failure));
  EXPECT_TRUE(can_write_figure("plot.svg", failure));
  EXPECT_FALSE(write_figure(Figure{}, "/no/such/place/a.png", failure));
  EXPECT_EQ(failure, "cannot write `/no/such/place/a.png`: the directory `/no/such/place` does not exist");
  std::string link = testing::TempDir() + "tactus_full_" + std::to_string(::getpid()) + ".svg";
  ASSERT_EQ(::symlink("/dev/full", link.c_str()), 0);
  EXPECT_FALSE(write_figure(Figure{}, link, failure));
  EXPECT_EQ(failure, "cannot write `" + link + "`: the disk is full");
  ::unlink(link.c_str());
}

TEST(ValidUtf8, ReplacesWhatIsNot) {
  EXPECT_EQ(valid_utf8("\u03b8\u2032 ok"), "\u03b8\u2032 ok");
  EXPECT_EQ(valid_utf8("a\xff\xc3"), "a??");
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "???");  // a surrogate
  EXPECT_EQ(valid_utf8("\xc0\x80"), "??");       // overlong
  EXPECT_EQ(valid_utf8("tab\there"), "tab?here");
}

TEST(Figure, AStaircaseIsDrawnWithCorners) {
  std::vector<double> xs = {0, 1, 2}, ys = {0, 1, 1};
  Figure line, steps;
  line.panels = {{"y", {{"y", "", xs, ys}}}};
  steps.panels = {{"y", {{"y", "", xs, ys, true}}}};
  // The corner is one more point of the path.
  auto points = [](const std::string& svg) { return std::count(svg.begin(), svg.end(), 'L'); };
  EXPECT_GT(points(render(steps, "svg")), points(render(line, "svg")));
}

TEST(WriteFigure, LogarithmicAxisShowsOnlyWhatIsPositive) {
  const std::vector<double> xs = {-1, 0, 0.1, 1, 10, 100}, ys = {5, 6, 1, 2, 3, 4};
  Figure figure;
  figure.x_label = "w";
  figure.x_scale = Scale::logarithmic;
  figure.panels = {{"y", {{"y", "", xs, ys}}}};
  const std::string svg = render(figure, "svg");
  for (const char* label : {">0.1<", ">1<", ">10<", ">100<"}) EXPECT_NE(svg.find(label), std::string::npos) << label;
  EXPECT_EQ(svg.find(">5<"), std::string::npos);
  figure.panels[0].curves[0].xs = std::span(xs).first(2);
  EXPECT_NE(render(figure, "svg").find("no data"), std::string::npos);
}

TEST(Figure, LogarithmicHeightsAndMarks) {
  const std::vector<double> xs = {1, 10, 100, 1000, 2000}, ys = {3, 0.5, 40, -1, 0};
  Figure figure;
  figure.x_scale = Scale::logarithmic;
  figure.panels = {{"y", {{"found", "", xs, ys, false, Line::marks}}}};
  figure.panels[0].y_scale = Scale::logarithmic;
  const std::string svg = render(figure, "svg");
  for (const char* label : {">1<", ">10<", ">100<"}) EXPECT_NE(svg.find(label), std::string::npos) << label;
  // What is not positive has no place on either axis.
  EXPECT_EQ(svg.find(">1000<"), std::string::npos);
  figure.panels[0].curves[0].line = Line::solid;
  const std::string drawn = render(figure, "svg");
  EXPECT_NE(svg, drawn);
  figure.panels[0].curves[0].line = Line::dashed;
  EXPECT_NE(render(figure, "svg").find("dash"), std::string::npos);
  EXPECT_EQ(drawn.find("stroke-dasharray"), std::string::npos);
  figure.panels[0].curves[0].ys = std::span(ys).last(2);
  figure.panels[0].curves[0].xs = std::span(xs).last(2);
  EXPECT_NE(render(figure, "svg").find("no data"), std::string::npos);
}

}  // namespace
}  // namespace trace
