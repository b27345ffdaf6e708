(section) @fold
(group) @fold
(block) @fold
(block_comment) @fold
