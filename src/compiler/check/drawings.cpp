#include "compiler/check/drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/nearest.h"
#include "compiler/check/colors.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/read_names.h"
#include "compiler/parse/parse.h"

namespace check {
namespace {

using expr::Shape;
using parse::NodeId;
using parse::NodeKind;

// What stands behind the kind without a word.
enum class Leading { nothing, point, text, file, numbers };

struct Form {
  std::string_view kind;
  Leading leading;
  std::vector<std::string_view> needed;
  std::vector<std::string_view> allowed;  // besides
  std::string_view example;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"sphere", Leading::nothing, {"at"}, {"radius", "color"}, "sphere at p radius 0.1;"},
      {"box", Leading::nothing, {"at"}, {"size", "rotation", "color"}, "box at p size (1, 2);"},
      {"cylinder", Leading::nothing, {"from", "to"}, {"radius", "color"}, "cylinder from a to b radius 0.1;"},
      {"spring", Leading::nothing, {"from", "to"}, {"radius", "color"}, "spring from a to b;"},
      {"arrow", Leading::nothing, {"at", "along"}, {"scale", "color"}, "arrow at p along F scale 0.1;"},
      {"trace", Leading::point, {}, {"color"}, "trace p;"},
      {"text", Leading::text, {"at"}, {"scale", "color"}, "text \"x = {x}\" at p;"},
      // A height that is a function has become heights from low to high: expand/grounds.h.
      {"ground", Leading::nothing, {}, {"height", "heights", "low", "high", "color"}, "ground height 0;"},
      {"mesh", Leading::file, {"at"}, {"scale", "rotation", "color"}, "mesh \"part.stl\" at p;"},
      {"camera", Leading::nothing, {}, {"follow", "at", "scale"}, "camera follow p;"},
      {"plot", Leading::numbers, {}, {}, "plot x, y;"},
  };
  return all;
}

const Form* find_form(std::string_view kind) {
  auto found = std::find_if(forms().begin(), forms().end(), [&](const Form& form) { return form.kind == kind; });
  return found == forms().end() ? nullptr : &*found;
}

template <class Words>
bool is_among(const Words& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_point(std::string_view option) {
  return option == "at" || option == "from" || option == "to" || option == "follow" || option == "point";
}

class DrawingReader {
 public:
  DrawingReader(Model& model, base::Names& names, const table::Files& files, diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        files_(files),
        diags_(diags),
        read_names_(
            model, names, [this](NodeId id, const BoundNames*) { report_unknown_name(id); },
            [this](NodeId call, std::string_view function) {  // it would change the motion
              diags_.report(tree_[call].span, not_in_scene, fmt::format("`{}`", function))
                  .hint("give it an equation under `system`, and draw its name");
            }) {}

  void run() {
    for (const parse::Drawing& drawing : tree_.drawings) read(drawing);
  }

 private:
  void read(const parse::Drawing& drawing) {
    const std::string& kind = names_.text(drawing.kind);
    const Form* form = find_form(kind);
    if (!form) return report_unknown_kind(drawing);
    Drawing made{kind, "", drawing.span, {}};
    if (!read_leading(drawing, *form, made)) return;
    std::vector<std::string_view> seen;
    for (const parse::DrawingOption& option : drawing.options) {
      const std::string& name = names_.text(option.name);
      seen.push_back(name);
      if (!is_among(form->needed, name) && !is_among(form->allowed, name)) {
        auto report = diags_.report(option.name_span, no_such_option, kind, name);
        if (kind == "ground" && (name == "from" || name == "to"))
          report.hint("with a function f it reads `ground height f from -5 to 5;`, with both ends");
        else
          report.hint("it reads `{}`", form->example);
        continue;
      }
      if (name == "color")
        read_color(option, made);
      else
        add(made, name, option.value);
    }
    for (std::string_view name : form->needed) {
      if (!is_among(seen, name))
        diags_.report(drawing.kind_span, option_missing, kind, name).hint("it reads `{}`", form->example);
    }
    if (kind == "camera" && !is_among(seen, "follow") && !is_among(seen, "at"))
      diags_.report(drawing.kind_span, option_missing, kind, "follow").hint("it reads `{}`", form->example);
    if (kind == "ground" && !is_among(seen, "height") && !is_among(seen, "heights"))
      diags_.report(drawing.kind_span, option_missing, kind, "height").hint("it reads `{}`", form->example);
    model_.drawings.push_back(std::move(made));
  }

  void report_unknown_kind(const parse::Drawing& drawing) {
    const std::string& kind = names_.text(drawing.kind);
    if (kind == "robot") {
      diags_.report(drawing.kind_span, not_built, kind)
          .hint("draw its parts: `cylinder from shoulder to elbow radius 0.05;`");
      return;
    }
    static constexpr std::pair<std::string_view, std::string_view> meant[] = {
        {"ball", "sphere"},      {"circle", "sphere"}, {"point", "sphere"},  {"dot", "sphere"},
        {"cube", "box"},         {"rectangle", "box"}, {"line", "cylinder"}, {"rod", "cylinder"},
        {"capsule", "cylinder"}, {"vector", "arrow"},  {"path", "trace"},    {"label", "text"},
        {"floor", "ground"},     {"plane", "ground"},  {"graph", "plot"},    {"view", "camera"}};
    auto report = diags_.report(drawing.kind_span, unknown_drawing, kind);
    std::vector<std::string_view> known;
    std::string list;
    for (const Form& form : forms()) {
      known.push_back(form.kind);
      list += fmt::format("{}`{}`", list.empty() ? "" : ", ", form.kind);
    }
    for (const auto& [other, ours] : meant) {
      if (kind != other) continue;
      report.hint("write `{}`", find_form(ours)->example);
      return;
    }
    if (auto near = base::nearest(kind, known))
      report.hint("did you mean `{}`?", *near);
    else
      report.hint("a scene draws {}", list);
  }

  // The values without a word.
  bool read_leading(const parse::Drawing& drawing, const Form& form, Drawing& made) {
    const auto wrong = [&](std::string_view wanted, base::Span span) {
      diags_.report(span, wrong_leading, form.kind, wanted).hint("it reads `{}`", form.example);
      return false;
    };
    const auto is_text = [&](std::size_t i) {
      return i < drawing.values.size() && tree_[drawing.values[i]].kind == NodeKind::string;
    };
    const auto place = [&](std::size_t i) {
      return i < drawing.values.size() ? tree_[drawing.values[i]].span : drawing.kind_span;
    };
    const std::size_t count = drawing.values.size();
    switch (form.leading) {
      case Leading::nothing:
        return count == 0 || wrong("no value before its options", place(0));
      case Leading::point:
        if (count != 1 || is_text(0)) return wrong("one point", place(count > 1 ? 1 : 0));
        add(made, "point", drawing.values[0]);
        return true;
      case Leading::file:
        if (count != 1 || !is_text(0)) return wrong("a file's name in quotes", place(count > 1 ? 1 : 0));
        if (!files_.may_name(tree_.texts[tree_[drawing.values[0]].text], tree_[drawing.values[0]].span, diags_))
          return false;
        made.options.push_back({"file", tree_.texts[tree_[drawing.values[0]].text], {}});
        return true;
      case Leading::text: {
        if (!is_text(0)) return wrong("a text in quotes", place(0));
        made.text = tree_.texts[tree_[drawing.values[0]].text];
        DrawnOption values{"values", "", {}};
        for (std::size_t i = 1; i < count; ++i) {
          if (is_text(i)) return wrong("one text", place(i));
          if (exists(drawing.values[i])) values.values.push_back(drawing.values[i]);
        }
        if (!values.values.empty()) made.options.push_back(std::move(values));
        return true;
      }
      case Leading::numbers:
        if (count == 0) return wrong("what it shows", place(0));
        for (std::size_t i = 0; i < count; ++i) {
          if (is_text(i)) return wrong("numbers or vectors", place(i));
          add(made, "value", drawing.values[i]);
        }
        return true;
    }
    return true;
  }

  void add(Drawing& made, std::string_view name, NodeId value) {
    if (tree_[value].kind == NodeKind::string) {
      diags_
          .report(tree_[value].span, wrong_shape, fmt::format("`{}`", name), is_point(name) ? "a point" : "a number",
                  "a text")
          .hint("write an expression without quotes, such as `{} {}`", name, is_point(name) ? "(0, 0)" : "1");
      return;
    }
    if (!exists(value)) return;
    if (const parse::Function* function = name == "height" ? find_function(value) : nullptr) {
      const std::size_t count = function->arguments.size();
      if (count == 1 || count == 2) return;  // half of a range: told
      diags_
          .report(tree_[value].span, wrong_shape, "`height`", "a number or a function of one or two",
                  fmt::format("one of {}", count))
          .hint("write `function f(x) = ..` in a flat world, `function f(x, y) = ..` in space");
      return;
    }
    made.options.push_back({std::string(name), "", {value}});
  }

  const parse::Function* find_function(NodeId id) const {
    if (tree_[id].kind != NodeKind::name) return nullptr;
    const auto symbol = model_.find(tree_[id].name);
    if (!symbol || model_.symbols[*symbol].role != Role::function) return nullptr;
    return &tree_.functions[model_.symbols[*symbol].declaration];
  }

  void read_color(const parse::DrawingOption& option, Drawing& made) {
    const parse::Node& node = tree_[option.value];
    if (node.kind != NodeKind::string) {
      auto report = diags_.report(node.span, wrong_shape, "`color`", "a colour in quotes", "a value");
      const bool is_word = node.kind == NodeKind::name && is_among(color_names, names_.text(node.name));
      report.hint("write `color \"{}\"`", is_word ? names_.text(node.name) : "red");
      return;
    }
    std::string text = tree_.texts[node.text];
    if (text == "steel") text = "#71797e";  // no colour of the web, and a common one in models
    const bool is_hex =
        text.size() == 7 && text[0] == '#' && text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
    if (!is_hex && !is_among(color_names, text)) {
      auto report = diags_.report(node.span, unknown_color, text);
      if (auto near = base::nearest(text, color_names))
        report.hint("did you mean `\"{}\"`?", *near);
      else
        report.hint("write one of the web's colour words, `\"tomato\"`, or `\"#ff6347\"`");
      return;
    }
    made.options.push_back({"color", text, {}});
  }

  // Whether the expression reads only what there is.
  bool exists(NodeId id) {
    is_unknown_ = false;
    read_names_(id);
    return !is_unknown_;
  }

  void report_unknown_name(NodeId id) {
    const std::string& name = names_.text(tree_[id].name);
    is_unknown_ = true;
    if (!told_.insert(tree_[id].name).second) return;
    auto report = diags_.report(tree_[id].span, nothing_to_draw, name);
    std::vector<std::string_view> known;
    for (const Symbol& symbol : model_.symbols) known.push_back(names_.text(symbol.name));
    if (auto near = base::nearest(name, known))
      report.hint("did you mean `{}`?", *near);
    else if (is_among(color_names, name))
      report.hint("a colour stands in quotes: `color \"{}\"`", name);
    else
      report.hint("a scene draws what the program has; give it an equation under `system`: `{} = ..;`", name);
  }

  Model& model_;
  const parse::Tree& tree_;
  base::Names& names_;
  const table::Files& files_;
  diag::Sink& diags_;
  ReadNames read_names_;
  bool is_unknown_ = false;
  std::unordered_set<base::NameId> told_;  // what does not exist is told once
};

class DrawnShapes {
 public:
  DrawnShapes(Model& model, const base::Names& names, ExpressionShapes& shapes, diag::Sink& diags)
      : model_(model), tree_(*model.tree), names_(names), shapes_(shapes), diags_(diags) {}

  void run() {
    bool is_flat = true;
    for (Drawing& drawing : model_.drawings) {
      std::uint32_t length = 2;  // of its points
      for (const DrawnOption& option : drawing.options) {
        // A ground over x and y lies in space.
        if (option.name == "low" && shapes_.shape_of(option.values[0]).shape.is_vector()) length = 3;
        if (!is_point(option.name)) continue;
        const Known known = shapes_.shape_of(option.values[0]);
        if (known.is_fixed() && !check_point(option, known.shape)) continue;
        if (known.state == Known::any) report(option, "a vector of 2 or 3", "a number", "(0, 0)");
        length = std::max(length, known.shape.rows);
      }
      is_flat = is_flat && length == 2;
      for (const DrawnOption& option : drawing.options) check_option(drawing.kind, option, length);
    }
    model_.dimensions = is_flat ? 2 : 3;
  }

 private:
  void report(const DrawnOption& option, std::string_view wanted, const std::string& found, std::string_view instead) {
    diags_.report(tree_[option.values[0]].span, wrong_shape, fmt::format("`{}`", option.name), wanted, found)
        .hint("write `{}{}`", option.name == "point" ? "trace " : option.name + " ", instead);
  }

  bool check_point(const DrawnOption& option, const Shape& shape) {
    if (shape.is_vector() && (shape.rows == 2 || shape.rows == 3)) return true;
    const std::string text = parse::print(tree_, names_, option.values[0]);
    report(option, "a vector of 2 or 3", describe(shape),
           shape.is_scalar()                     ? fmt::format("({}, 0)", text)
           : shape.is_vector() && shape.rows > 3 ? fmt::format("({0}[1], {0}[2])", text)
                                                 : "(0, 0)");
    return false;
  }

  void check_option(const std::string& kind, const DrawnOption& option, std::uint32_t length) {
    if (option.values.empty() || is_point(option.name)) return;
    if (option.name == "values") {
      for (NodeId value : option.values) {
        const Known known = shapes_.shape_of(value);
        if (!known.is_fixed() || known.shape.is_scalar()) continue;
        diags_.report(tree_[value].span, wrong_shape, "a text", "a number", describe(known.shape))
            .hint("write its components: `{{{}[1]}}`", parse::print(tree_, names_, value));
      }
      return;
    }
    const Known known = shapes_.shape_of(option.values[0]);
    if (!known.is_fixed()) return;
    const Shape& shape = known.shape;
    const bool is_place = shape.is_vector() && (shape.rows == 2 || shape.rows == 3);
    if (option.name == "along") {
      if (!is_place) report(option, "a vector of 2 or 3", describe(shape), "(0, 1)");
    } else if (option.name == "heights") {
      if (!shape.is_vector())
        diags_
            .report(tree_[option.values[0]].span, wrong_shape, "`from`", "a number, of a function of x alone",
                    "a vector")
            .hint("write `from -5 to 5`, or give the function a second argument");
    } else if (option.name == "low" || option.name == "high") {
      if (!shape.is_scalar() && !is_place)
        diags_
            .report(tree_[option.values[0]].span, wrong_shape, "a range of `ground`", "numbers or points of the plane",
                    describe(shape))
            .hint("write `from -5 to 5`, or `from (-5, -5) to (5, 5)`");
    } else if (option.name == "size") {
      if (!is_place && !shape.is_scalar())
        report(option, "a number or a vector of 2 or 3", describe(shape), length == 2 ? "(1, 2)" : "(1, 2, 3)");
    } else if (option.name == "rotation") {
      if (length == 2 && !shape.is_scalar()) report(option, "an angle, in two dimensions", describe(shape), "pi / 6");
      if (length == 3 && !(shape == Shape::matrix(3, 3)))
        report(option, "a 3 x 3 matrix, in three dimensions", describe(shape), "identity(3)");
    } else if (option.name == "value") {
      if (shape.is_matrix())
        diags_.report(tree_[option.values[0]].span, wrong_shape, "`plot`", "numbers or vectors", describe(shape))
            .hint("name its entries: `plot {}[1, 1];`", parse::print(tree_, names_, option.values[0]));
    } else if (!shape.is_scalar()) {
      report(option, fmt::format("a number, in a `{}`", kind), describe(shape), "1");
    }
  }

  Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  ExpressionShapes& shapes_;
  diag::Sink& diags_;
};

}  // namespace

void read_drawings(Model& model, base::Names& names, const table::Files& files, diag::Sink& diags) {
  DrawingReader(model, names, files, diags).run();
}

void check_drawn_shapes(Model& model, const base::Names& names, ExpressionShapes& shapes, diag::Sink& diags) {
  DrawnShapes(model, names, shapes, diags).run();
}

bool is_length(std::string_view option) {
  return is_point(option) || option == "radius" || option == "size" || option == "height" || option == "heights" ||
         option == "low" || option == "high";
}

}  // namespace check
