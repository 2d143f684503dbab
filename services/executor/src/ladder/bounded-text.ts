/** Stands where text was cut, so that nobody takes a part for the whole. */
const CUT_MARK = '… [truncated]';

const encodedBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/**
 * The start of a text, at most so many bytes when written as JSON: a control character takes six there, and an event
 * holds 64 KiB in all. Ends with an explicit mark when something was cut.
 */
export const boundedText = (text: string, maxEncodedBytes: number): string => {
  if (encodedBytes(text) <= maxEncodedBytes) return text;
  let low = 0;
  let high = Math.min(text.length, maxEncodedBytes);
  const room = maxEncodedBytes - encodedBytes(CUT_MARK);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (encodedBytes(text.slice(0, middle)) <= room) low = middle;
    else high = middle - 1;
  }
  return withoutHalfPair(text.slice(0, low)) + CUT_MARK;
};

/** Cutting between the two halves of a surrogate pair would make a lone one. */
const withoutHalfPair = (text: string): string => {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
};
