#include "compiler/expand/use.h"

#include <unordered_map>

#include "compiler/expand/diagnostics.h"
#include "compiler/lex/lex.h"
#include "compiler/parse/parse.h"

namespace expand {
namespace {

// "folder/spring.tact" -> "spring"
std::string stem(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\");
  const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
  return file.substr(0, file.find('.'));
}

}  // namespace

void load_used_files(parse::Tree& tree, diag::SourceMap& sources, base::Names& names, const source::Reader& read,
                     diag::Sink& diags) {
  std::unordered_map<std::string, std::uint32_t> loaded;  // by the name the reader gave
  // The list grows while files are read.
  for (std::size_t i = 0; i < tree.uses.size(); ++i) {
    const parse::Use use = tree.uses[i];
    source::Reading reading = read ? read(sources.name(use.span.file), use.path) : source::Reading();
    std::optional<source::File>& file = reading.file;
    if (!file) {
      if (source::report_refusal(reading, use.path, use.path_span, diags)) continue;
      diags.report(use.path_span, file_not_found, use.path)
          .hint("it is looked for beside the file that uses it, then in the library");
      continue;
    }
    auto [known, fresh] = loaded.emplace(file->name, 0);
    if (fresh) {
      auto id = source::add(file->name, std::move(file->text), sources, diags);
      if (!id) continue;
      const lex::Tokens tokens = lex::lex(sources, *id, names, diags);
      const std::size_t uses = tree.uses.size();
      known->second =
          parse::append_file(tree, parse::parse(tokens, sources, names, diags, parse::dialect_of(sources.name(*id))));
      for (std::size_t u = uses; u < tree.uses.size(); ++u) tree.uses[u].in = known->second;
    }
    tree.uses[i].file = known->second;
    tree.uses[i].name = use.alias.valid() ? names.text(use.alias) : stem(known->first);
  }
}

}  // namespace expand
