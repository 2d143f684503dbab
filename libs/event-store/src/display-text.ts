/**
 * A text as a text column can hold it: NUL is shown as U+2400 and a lone surrogate as U+FFFD.
 * One way only: the event keeps the exact text, the column is for people and filters.
 */
export const displayText = (text: string): string => text.replaceAll('\0', '\u2400').toWellFormed();
