// The layout by examples, and what holds of every text: nothing but blanks changes, and a second time nothing at all.
#include "compiler/format/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/parse/parse_text.h"

namespace format {
namespace {

namespace fs = std::filesystem;

// Empty when the text is refused.
std::optional<std::string> formatted(std::string text, const std::string& name = "a.tact") {
  diag::SourceMap sources;
  diag::Sink diags;
  const auto file = source::add(name, std::move(text), sources, diags);
  return file ? format(*file, sources, diags) : std::nullopt;
}

// Tokens and comments in their order, one a line; comments to the end of a line without blanks there.
std::vector<std::string> contents(const std::string& text) {
  diag::SourceMap sources;
  diag::Sink diags;
  base::Names names;
  const lex::Tokens tokens = lex::lex(sources, sources.add("a.tact", text), names, diags);
  std::vector<std::string> all;
  std::size_t at = 0;
  for (const lex::Token& token : tokens.list) {
    while (at < token.begin) {
      std::size_t end = at + 1;
      if (text.compare(at, 2, "//") == 0) end = std::min(text.find('\n', at), text.size());
      if (text.compare(at, 2, "/*") == 0) end = text.find("*/", at + 2) + 2;
      if (end > at + 1) {
        std::string comment = text.substr(at, end - at);
        if (comment.starts_with("//"))
          while (std::string_view(" \t\r\f\v").find(comment.back()) != std::string_view::npos) comment.pop_back();
        all.push_back(comment);
      }
      at = end;
    }
    all.push_back(text.substr(token.begin, token.end - token.begin));
    at = token.end;
  }
  return all;
}

void expect_properties(const std::string& text, const std::string& name) {
  const auto once = formatted(text, name);
  if (!once) return;
  const auto twice = formatted(*once, name);
  ASSERT_TRUE(twice.has_value()) << name << "\n" << *once;
  ASSERT_EQ(*twice, *once) << name << "\n" << text;
  ASSERT_EQ(contents(*once), contents(text)) << name << "\n" << text;
}

std::vector<fs::path> programs() {
  std::vector<fs::path> found;
  for (const char* folder : {"examples", "src", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TACTUS_SOURCE_DIR) / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".tact" || extension == ".phydl" || extension == ".ridl") found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(Format, SectionsDeclarationsAndOperators) {
  EXPECT_EQ(formatted("simulation ending_time=1\n"
                      "parameter k=4[ N / m ]in 0 .. 50 ;\n"
                      "boundary\n"
                      "x with x ( 0 )=1 , x '(0)~ 0;\n"
                      "\n\n\n"
                      "system\n"
                      "      m*x ' '+k * x= - 1e-3*x^ 2;y=( x,- x ) ;\n"
                      "z = if(x>0&&!(y<1),1,0) + v [ 1 ] . w\n"),
            "simulation ending_time = 1\n"
            "parameter k = 4 [N/m] in 0..50;\n"
            "boundary\n"
            "  x with x(0) = 1, x'(0) ~ 0;\n"
            "\n"
            "system\n"
            "  m*x'' + k * x = -1e-3*x^2;  y = (x, -x);\n"
            "  z = if(x > 0 && !(y < 1), 1, 0) + v[1].w\n");
}

TEST(Format, ModulesModesAndJumps) {
  EXPECT_EQ(
      formatted("module S=(\nports a,b:3;\nsystem\nb=a;\nin m.On||m.Off{\nb=-a;\n}\n)\n"
                "system\nplan P in m.On when true\nchoose v=( 0,7 ){\ngoto m.Off;\n}for T reaching p=q{\n}else{ }\n"
                "s[ i in 1..6 ]=S(x,k=2)rate 1 [kHz];\n"
                "for i in 1 .. 2{ x[i]=i; }\nin m.On require x>=0 else\"no\";\n"),
      "module S = (\n"
      "  ports a, b : 3;\n"
      "  system\n"
      "    b = a;\n"
      "    in m.On || m.Off {\n"
      "      b = -a;\n"
      "    }\n"
      ")\n"
      "system\n"
      "  plan P in m.On when true\n"
      "    choose v = (0, 7) {\n"
      "    goto m.Off;\n"
      "  } for T reaching p = q {\n"
      "  } else { }\n"
      "  s[i in 1..6] = S(x, k = 2) rate 1 [kHz];\n"
      "  for i in 1..2 { x[i] = i; }\n"
      "  in m.On require x >= 0 else \"no\";\n");
}

TEST(Format, SequencesAndPorts) {
  EXPECT_EQ(
      formatted("system\nsequence F in r.Drive when near{goto r.Swing;}\nuntil a>=1{goto r.Reach;}\nuntil b{}\nx=1;\n"
                "power end:F->v;\njoin a.end to b.end hold;\ninvariant R*R=1;\n"),
      "system\n"
      "  sequence F in r.Drive when near { goto r.Swing; }\n"
      "    until a >= 1 { goto r.Reach; }\n"
      "    until b { }\n"
      "  x = 1;\n"
      "power end: F -> v;\n"
      "  join a.end to b.end hold;\n"
      "  invariant R*R = 1;\n");
}

TEST(Format, EnergiesStoragesRatesAndGuards) {
  const std::optional<std::string> made = formatted(
      "simulation solver=passive\nmodule S=(\nsystem q'=v;F=q;// pulls\nenergy H=q^2/2;/* stored */power end:v->F;\n)\n"
      "system\n  storage(x,y)energy E=x^2+y^2// both\nstructure J=((0,1),(-1,0)),R=((0,0),(0,b))\n,G=(0,1)power "
      "drive:u->w;\n"
      "a=S()rate 1[kHz];// fast\nb=S()rate 20[Hz];join a.end to b.end   extrapolate;// a line\n"
      "join c[1].end to d.end passive;\nguard a.end reserve 0.2;/* never below */\nguard=power(x,3);\n");
  EXPECT_EQ(made,
            "simulation solver = passive\n"
            "module S = (\n"
            "  system q' = v;  F = q;  // pulls\n"
            "  energy H = q^2/2; /* stored */ power end: v -> F;\n"
            ")\n"
            "system\n"
            "  storage (x, y) energy E = x^2 + y^2  // both\n"
            "    structure J = ((0, 1), (-1, 0)), R = ((0, 0), (0, b))\n"
            "    , G = (0, 1) power drive: u -> w;\n"
            "  a = S() rate 1 [kHz];  // fast\n"
            "  b = S() rate 20 [Hz];  join a.end to b.end extrapolate;  // a line\n"
            "  join c[1].end to d.end passive;\n"
            "  guard a.end reserve 0.2;  /* never below */\n"
            "  guard = power(x, 3);\n");
  ASSERT_TRUE(made);
  EXPECT_EQ(formatted(*made), made);
}

TEST(Format, MechanismsAndScenesHaveWordsKnownByTheirPlace) {
  EXPECT_EQ(formatted("mechanism arm(\ngravity(0,0,-9.81);\nbody l1 mass 3 com(0,-1,0)inertia diag(1,2,3);\n"
                      "joint j revolute from world to l1 dh(0,0,0,0)limits-pi..pi;\n)\n"
                      "scene\nsphere at-p radius r-1 color\"red\";trace-p;ground height height;\n"
                      "system\napply-(fx,0)at Q;radius=height -1;\n"),
            "mechanism arm (\n"
            "  gravity (0, 0, -9.81);\n"
            "  body l1 mass 3 com (0, -1, 0) inertia diag(1, 2, 3);\n"
            "  joint j revolute from world to l1 dh (0, 0, 0, 0) limits -pi..pi;\n"
            ")\n"
            "scene\n"
            "  sphere at -p radius r - 1 color \"red\";  trace -p;  ground height height;\n"
            "system\n"
            "  apply -(fx, 0) at Q;  radius = height - 1;\n");
}

TEST(Format, BehavioursNeedNothingBetweenThem) {
  const std::string text =
      "cur=init 0 in{clock=>x},\nprev=init 0 in{clock=>x later}\nn=init a=0 in{\nclock=>a+1;\ntick=>\n0\n}\nm=n+1\nk=m";
  const std::string wanted =
      "cur = init 0 in { clock => x },\nprev = init 0 in { clock => x later }\nn = init a = 0 in {\n"
      "  clock => a + 1;\n  tick =>\n    0\n}\nm = n + 1\nk = m\n";
  EXPECT_EQ(formatted(text, "a.ridl"), wanted);
}

TEST(Format, LinesThatGoOnStandOneLevelInside) {
  EXPECT_EQ(formatted("system\nx = a\n+ b\n        * c;\ny = f(\na,\ng(\nb)\n);\n"),
            "system\n  x = a\n    + b\n    * c;\n  y = f(\n    a,\n    g(\n      b)\n  );\n");
}

TEST(Format, LinesUnderABracketStayThere) {
  EXPECT_EQ(formatted("system\n x=max(a,\n       b);\n yy=a+\n    b;\nconstant c=1,\n         d=2;\n"),
            "system\n  x = max(a,\n          b);\n  yy = a +\n       b;\nconstant c = 1,\n         d = 2;\n");
}

TEST(Format, DeclarationsStayAtTheMarginIfTheyStoodThere) {
  const std::string text = "boundary\n  x(0) = 1;\n\n// gravity\nconstant g = 9.81;\n  parameter k = 1;\n  y(0) = g;\n";
  EXPECT_EQ(formatted(text), text);
}

TEST(Format, AlignmentThatIsThereIsKept) {
  const std::string text =
      "system\n  gap   = 1;  // one\n  // between\n  along = -2;\n  M = ((-1,  2),\n       ( 3, -4));  // two\n";
  EXPECT_EQ(formatted(text), text);
  EXPECT_EQ(formatted("system\n  gap    = 1;     // one\n  along  = 2;     // two\n"),
            "system\n  gap   = 1;  // one\n  along = 2;  // two\n");
}

TEST(Format, BlanksWithoutPurposeGo) {
  EXPECT_EQ(formatted("system\n  x   =  1   ;      // far\n\n\n  y = 2;\t \n\n\n"),
            "system\n  x = 1;  // far\n\n  y = 2;\n");
}

TEST(Format, CommentsStandAsTheLineBelow) {
  EXPECT_EQ(
      formatted("// top\nsystem\n// of x\n/* and\n     more */\nx = 1; /* same */ y = 2;\nin m.A {\n// inside\n}\n  // "
                "end\n"),
      "// top\nsystem\n  // of x\n  /* and\n     more */\n  x = 1; /* same */ y = 2;\n  in m.A {\n    // inside\n  }\n"
      "  // end\n");
}

TEST(Format, PartsOfSimulationAndExternalMayStandApart) {
  EXPECT_EQ(formatted("simulation  a = 1   b = 2 c = 3\n\nexternal hand  reads x    writes y every 0.1\n"),
            "simulation  a = 1  b = 2 c = 3\n\nexternal hand  reads x  writes y every 0.1\n");
}

TEST(Format, KeepsTheLineEndsOfTheFile) {
  EXPECT_EQ(formatted("system\r\nx=1; // a \r\n\r\n\r\ny=2;"), "system\r\n  x = 1;  // a\r\n\r\n  y = 2;\r\n");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("\n \n"), "");
}

TEST(Format, RefusesWhatTheLexerDoesNotRead) {
  for (const char* text : {"system x == 1;", "/* open", "x = \"open\n;", "# other", "x = 1 \xe2\x88\x92 2;"})
    EXPECT_FALSE(formatted(text).has_value()) << text;
}

TEST(Format, BrokenProgramsAreLaidOutToo) {
  EXPECT_EQ(formatted("system\nx=(1;\ny=2);}\nz=3;"), "system\n  x = (1;\n  y = 2); }\n  z = 3;\n");
}

TEST(Format, EveryProgramKeepsItsTokensCommentsAndTree) {
  std::size_t count = 0;
  for (const fs::path& path : programs()) {
    const std::string text = parse::read_text(path);
    expect_properties(text, path.string());
    const auto once = formatted(text, path.string());
    if (!once) continue;
    ++count;
    const parse::Dialect dialect = parse::dialect_of(path.string());
    // Where a text has mistakes the parser goes by line breaks.
    const parse::ParsedText before(text, dialect);
    if (before.reports().empty()) {
      EXPECT_EQ(parse::ParsedText(*once, dialect).dumped(), before.dumped()) << path;
    }
  }
  EXPECT_GT(count, 60u);
}

constexpr std::string_view pieces[] = {
    "(",          ")",        "[",        "]",       "{",         "}",      ";",          ",",        "'",
    "=",          "->",       "=>",       "..",      ".",         "+",      "-",          "*",        "/",
    "^",          "!",        "<",        ">=",      "&&",        "||",     "~",          ":",        "x",
    "yy",         "t1",       "1",        "0.5",     "2e3",       "\"s\"",  "system",     "scene",    "module",
    "mechanism",  "for",      "in",       "until",   "else",      "if",     "then",       "init",     "boundary",
    "check",      "plan",     "reactive", "event",   "use",       "apply",  "ports",      "at",       "limits",
    "simulation", "external", "reads",    "every",   "power",     "when",   "rate",       "stop",     "choose",
    "energy",     "observes", "interact", "/* a */", "/*b\n c*/", "// c\n", "transition", "constant", "parameter",
    "goto",       "require",  "≥",        "größe",   "sequence",
};
constexpr std::string_view spaces[] = {" ",      " ",    " ",        "  ", "   ",  "\n", "\n",
                                       "\n\n\n", "\n  ", "\n      ", "\t", "\r\n", ""};

bool needs_blank(std::string_view left, std::string_view right) {
  const auto wordlike = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c < 0; };
  const auto joins = [](char c) { return std::string_view("=-><.&|~:*/^!+").find(c) != std::string_view::npos; };
  return !left.empty() && !right.empty() &&
         ((wordlike(left.back()) && wordlike(right.front())) || (joins(left.back()) && joins(right.front())) ||
          (left.back() == '.' && wordlike(right.front())) || (wordlike(left.back()) && right.front() == '.'));
}

TEST(Format, SoupsOfTokens) {
  std::mt19937 random(7);  // its sequence is the same on every platform
  const auto below = [&](std::size_t bound) { return random() % bound; };
  std::size_t accepted = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text;
    std::string_view last;
    const std::size_t length = 1 + below(60);
    for (std::size_t k = 0; k < length; ++k) {
      const std::string_view piece = pieces[below(std::size(pieces))];
      std::string_view space = spaces[below(std::size(spaces))];
      if (space.empty() && needs_blank(last, piece)) space = " ";
      text += space;
      text += piece;
      last = piece;
    }
    const std::string name = round % 5 == 0 ? "a.ridl" : round % 5 == 1 ? "a.phydl" : "a.tact";
    expect_properties(text, name);
    if (HasFatalFailure()) return;
    accepted += formatted(text, name).has_value() ? 1 : 0;
  }
  EXPECT_GT(accepted, 4000u);
}

// Programs with their blanks thrown about: alignment appears and disappears, lines move.
TEST(Format, ProgramsWithOtherBlanks) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t bound) { return random() % bound; };
  for (const fs::path& path : programs()) {
    const std::string text = parse::read_text(path);
    for (int round = 0; round < 6; ++round) {
      std::string changed;
      for (char c : text) {
        changed += c;
        if (c == ' ' && below(4) == 0) changed.append(below(4), ' ');
        if (c == ' ' && below(30) == 0) changed += '\n';
        if (c == '\n' && below(4) == 0) changed.append(below(5), ' ');
        if (c == ' ' && below(6) == 0) changed.pop_back();
      }
      expect_properties(changed, path.string());
      if (HasFatalFailure()) return;
    }
  }
}

// Nothing stands before the first token that its place could depend on.
TEST(Format, ATextMayBeginWithAnySign) {
  for (const char* text :
       {"(", "(1, 2) 2;\n", "[", "{", "}", ")", "-", "*", ".", "..", "'", "=", ";", ",", "^", ":", "!"}) {
    const auto once = formatted(text);
    ASSERT_TRUE(once.has_value()) << text;
    EXPECT_EQ(contents(*once), contents(text));
    EXPECT_EQ(formatted(*once), once);
  }
}

}  // namespace
}  // namespace format
