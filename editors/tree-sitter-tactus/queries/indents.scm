(section) @indent
(group) @indent
(block) @indent
[")" "}"] @outdent
