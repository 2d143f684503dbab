/** Levels of lists and mappings inside each other. */
export const MAX_DEPTH = 64;

/** Longest task or protocol, in UTF-16 code units. */
export const MAX_TEXT = 1024 * 1024;
