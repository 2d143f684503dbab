/**
 * Text of at most `limit` UTF-16 units that says where something is left out: its start and its end are kept.
 * A cut never splits a character.
 */
export const cutText = (text: string, limit: number): string => {
  if (text.length <= limit) return text;
  const mark = `\n[… ${text.length - limit} characters left out …]\n`;
  const kept = Math.max(0, limit - mark.length);
  const head = text.slice(0, Math.ceil(kept / 2));
  const tail = kept < 2 ? '' : text.slice(-Math.floor(kept / 2));
  return `${withoutLastHalf(head)}${mark}${withoutFirstHalf(tail)}`;
};

const withoutLastHalf = (text: string): string => (/[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text);
const withoutFirstHalf = (text: string): string => (/^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text);
