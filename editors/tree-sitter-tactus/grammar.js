// Tactus for tree-sitter: words, numbers, texts and brackets, and the sections they stand in. A file is read as the tokens of
// its statements, not as their syntax: the compiler knows that, and an editor colours, folds and indents by this. So every
// construct of the language is read, also in texts with mistakes, and no lookahead beyond one token is needed.
//
// In .phydl and .ridl files fewer words are reserved; here they are words everywhere.
module.exports = grammar({
  name: 'tactus',

  extras: $ => [/\s/, $.line_comment, $.block_comment],

  word: $ => $.name,

  rules: {
    source_file: $ => seq(repeat($._item), repeat($.section)),

    section: $ => seq($.section_keyword, repeat($._item)),

    _item: $ => choice(
      $.keyword,
      $.boolean,
      $.name,
      $.number,
      $.string,
      $.operator,
      $.prime,
      $.delimiter,
      $.group,
      $.bracket,
      $.block,
    ),

    // A module's or mechanism's body, a tuple, arguments.
    group: $ => seq('(', repeat($._item), repeat($.section), ')'),
    // A unit behind a number, an index behind anything else.
    bracket: $ => seq('[', repeat(choice($._item, '%')), ']'),
    block: $ => seq('{', repeat($._item), repeat($.section), '}'),

    section_keyword: $ => choice(
      'simulation', 'external', 'boundary', 'system', 'reactive', 'scene', 'check',
    ),

    keyword: $ => choice(
      'module', 'ports', 'event', 'parameter', 'constant', 'function', 'automaton', 'transition',
      'sequence', 'plan', 'energy', 'mechanism', 'use', 'invariant', 'require', 'expect',
      'stop', 'join', 'interact', 'apply', 'unknown', 'if', 'then', 'else',
      'when', 'until', 'for', 'in', 'goto', 'choose', 'reaching', 'init',
      'later', 'reads', 'writes', 'observes', 'rate', 'with', 'keep', 'enforce',
      'every',
    ),

    boolean: $ => choice('true', 'false'),

    name: $ => /\p{L}[\p{L}\p{M}\p{N}_]*/,

    number: $ => /(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?/,

    string: $ => token(seq('"', repeat(choice(/[^"\\\n]/, /\\./)), '"')),

    operator: $ => choice(
      '=>', '->', '<=', '>=', '!=', '&&', '||', '..',
      '+', '-', '*', '/', '^', '=', '<', '>', '!', '~',
      '≥', '≤', '≠', '¬', '‖',
    ),

    prime: $ => '\'',

    delimiter: $ => choice(';', ',', ':', '.'),

    line_comment: $ => token(seq('//', /[^\n]*/)),

    block_comment: $ => token(seq('/*', /[^*]*\*+([^/*][^*]*\*+)*/, '/')),
  },
});
